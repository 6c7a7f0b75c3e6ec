// The language of filters: words that must all occur, in any case; field:value asks for one field
// exactly, and field:none for rows that have no value there.
//
//   rank:5 kind:text stdout

type Value = string | number | null | undefined;
export type Fields<Row> = Record<string, (row: Row) => Value>;

export function matcher<Row>(
  text: string,
  fields: Fields<Row>,
  haystack: (row: Row) => string,
): (row: Row) => boolean {
  const tests = text
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => {
      const [, name = "", wanted = ""] = /^(\w+):(.+)$/.exec(word) ?? [];
      const field = Object.prototype.hasOwnProperty.call(fields, name) ? fields[name] : undefined;
      if (!field) return (row: Row) => haystack(row).toLowerCase().includes(word);
      return (row: Row) => String(field(row) ?? "none").toLowerCase() === wanted;
    });
  return (row) => tests.every((test) => test(row));
}
