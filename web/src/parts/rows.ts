// Sums, medians and groups of rows.

export function sum<Row>(rows: Row[], value: (row: Row) => number | undefined): number {
  return rows.reduce((all, row) => all + (value(row) ?? 0), 0);
}

// 0 when all are less.
export function most<Row>(rows: Row[], value: (row: Row) => number | null | undefined): number {
  return rows.reduce((best, row) => Math.max(best, value(row) ?? 0), 0);
}

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low, high] = [sorted[middle - 1] ?? 0, sorted[middle] ?? 0];
  return sorted.length % 2 ? high : (low + high) / 2;
}

// A row without the value has `missing`; equal ones keep their order.
export function largestFirst<Row>(
  rows: Row[],
  value: (row: Row) => number | undefined,
  missing = 0,
): Row[] {
  return [...rows].sort((a, b) => (value(b) ?? missing) - (value(a) ?? missing));
}

export function smallestFirst<Row>(rows: Row[], value: (row: Row) => number | undefined): Row[] {
  return largestFirst(rows, (row) => -(value(row) ?? 0));
}

export function grouped<Key, Row>(rows: Row[], key: (row: Row) => Key): Map<Key, Row[]> {
  const groups = new Map<Key, Row[]>();
  for (const row of rows) {
    const group = groups.get(key(row));
    if (group) group.push(row);
    else groups.set(key(row), [row]);
  }
  return groups;
}

// Whether rows differ in a value.
export function differ<Row>(rows: Row[], value: (row: Row) => unknown): boolean {
  return new Set(rows.map(value)).size > 1;
}

type NumberKey<Row> = { [Key in keyof Row]-?: Row[Key] extends number | undefined ? Key : never }[keyof Row];

// Rows of one key become one, with the numbers named added up; `of` has the rows, and the first gives the rest.
export function addUp<Row extends object, Key extends NumberKey<Row> & string>(
  rows: Row[],
  key: (row: Row) => string,
  numbers: Key[],
): (Row & Record<Key, number> & { of: Row[] })[] {
  return [...grouped(rows, key).values()].map((of) => {
    const sums = numbers.map((name) => [name, sum(of, (row) => row[name] as number | undefined)]);
    return { ...(of[0] as Row), ...(Object.fromEntries(sums) as Record<Key, number>), of };
  });
}
