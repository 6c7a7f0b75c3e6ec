#!/usr/bin/env python3
"""Turns every src/**/tables.def into all that is known of tables.

usage: gen_tables.py SOURCE_DIR GENERATED_DIR

  GENERATED_DIR/tables/*.h, *.cc   columns in C++, and the descriptions that store, sheets and SQL walk
  GENERATED_DIR/tables.d.ts        types of rows for the report's front end
  GENERATED_DIR/tables.md          the page for people; tools/check_tables.py compares docs/tables.md with it

The grammar is in src/model/tables.def. A table declared twice is an error that names both places.
Files are written only when their content changes, so that nothing is rebuilt for nothing.
"""
import re
import sys
from pathlib import Path
from typing import NamedTuple

# name in tables.def: (C++ type, null value, ColumnType)
TYPES = {
    "i32": ("int32_t", "kNone32", "kInt32"),
    "i64": ("int64_t", "kNone64", "kInt64"),
    "f64": ("double", "kNoDouble", "kDouble"),
    "bool": ("uint8_t", "0", "kBool"),
    "string": ("StringId", "StringId::kNone", "kString"),
    "list": ("ListId", "ListId::kNone", "kList"),
    "stack": ("StackId", "StackId::kNone", "kStack"),
}
SQL = {"i32": "INTEGER", "i64": "BIGINT", "f64": "DOUBLE", "bool": "BOOLEAN", "string": "VARCHAR",
       "list": "BIGINT[]", "stack": "VARCHAR[]"}
TYPESCRIPT = {"i32": "number", "i64": "number", "f64": "number", "bool": "boolean", "string": "string",
              "list": "number[]", "stack": "string[]"}
# unit in tables.def: (ColumnUnit in C++, how names of columns end that are in it)
UNITS = {"ns": ("kNs", "_ns"), "us": ("kUs", "_us"), "ms": ("kMs", "_ms"), "s": ("kSeconds", "_s"), "bytes": ("kBytes", "bytes"),
         "pct": ("kPercent", "_pct"), "share": ("kShare", "share"), "MHz": ("kMhz", "mhz"), "ppb": ("kPpb", "_ppb"),
         "cycles": ("kCycles", "cycles")}
UNIT_ENDING = re.compile(r"_(ns|us|ms|s|bytes|pct)$")  # every output writes these behind the number
COLUMN = re.compile(r'  column (\w+) (\w+)(?: \[(\w+)\])?( uniform)?(?: "([^"]+)")?: (.+)')
# Names that C++ does not allow, or that SQL does not allow without quotes.
KEYWORDS = {"operator", "new", "class", "default", "register", "this", "namespace", "union", "export", "offset", "limit",
            "size", "index", "info", "order", "group", "table", "column", "select", "from", "where", "end", "primary", "references", "using"}


class Column(NamedTuple):
    name: str
    kind: str  # of TYPES
    doc: str
    unit: str = ""  # of UNITS
    own_label: str = ""
    is_uniform: bool = False

    @property
    def label(self):
        """The head of the column where people read it."""
        return self.own_label or UNIT_ENDING.sub("", self.name).replace("_", " ")


WHO = [Column("job", "i32", "the job"), Column("attempt", "i32", "attempt of the job"), Column("rank", "i32", "global rank")]


class Table:
    def __init__(self, name, words, doc, family, owner, place):
        self.name, self.doc, self.family, self.owner, self.place = name, doc, family, owner, place
        self.is_global, self.is_packed = "global" in words, "packed" in words
        self.is_derived = "derived" in words or (owner.startswith("analyses/") and "raw" not in words)
        self.columns = [] if self.is_global else list(WHO)
        if "uniform" in words:
            self.columns = [column._replace(is_uniform=column.name != "rank") for column in self.columns]

    @property
    def cpp(self):
        return "".join(part.capitalize() for part in self.name.split("_"))

    def storage(self, column):
        """The C++ type that holds a column; differences of doubles are no small numbers."""
        is_packed = self.is_packed and column.kind != "f64"
        holder = "UniformColumn" if column.is_uniform else "PackedColumn" if is_packed else "std::vector"
        return f"{holder}<{TYPES[column.kind][0]}>"


def fail(place, message):
    sys.exit(f"{place}: {message}")


def parse_file(path, owner, families):
    """The tables of one file; `families` gets those that it describes. The second part of the folder is the family of tables
    that stand under no `family` line."""
    tables, family = [], owner.split("/")[1] if "/" in owner else None
    for number, raw in enumerate(path.read_text().splitlines(), 1):
        line, place = raw.rstrip(), f"{path}:{number}"
        if not line or line.startswith("#"):
            continue
        if match := re.fullmatch(r"family (\w+)(?:: (.+))?", line):
            family = match[1]
            if match[2]:
                families[family] = match[2]
        elif match := re.fullmatch(r"table (\w+)((?: (?:global|packed|uniform|derived|raw))*): (.+)", line):
            if family is None:
                fail(place, "a table before any `family NAME`")
            tables.append(Table(match[1], match[2].split(), match[3], family, owner, place))
        elif match := COLUMN.fullmatch(line):
            if not tables:
                fail(place, "a column before any table")
            add_column(tables[-1], Column(match[1], match[2], match[6], match[3] or "", match[5] or "", bool(match[4])), place)
        else:
            fail(place, "neither `family NAME`, `table NAME: text` nor `  column NAME TYPE: text`")
    return tables


def add_column(table, column, place):
    if column.kind not in TYPES:
        fail(place, f"unknown type {column.kind}; known: {' '.join(TYPES)}")
    if column.name in KEYWORDS or column.name in [other.name for other in table.columns]:
        fail(place, f"column {column.name} is a keyword of C++ or SQL, or declared twice")
    if column.unit and column.unit not in UNITS:
        fail(place, f"unknown unit {column.unit}; known: {' '.join(UNITS)}")
    for unit, (_, ending) in UNITS.items():
        if column.kind in ("i32", "i64", "f64") and f"_{column.name}".endswith(ending) and column.unit != unit:
            fail(place, f"column {column.name} is in {unit} by its name: write `{column.kind} [{unit}]`")
    table.columns.append(column)


def read_tables(source):
    """All tables in order of name, and what each described family is about, in order of the descriptions."""
    tables, families = {}, {}
    for path in sorted(source.glob("src/**/tables.def")):
        for table in parse_file(path, str(path.parent.relative_to(source / "src")), families):
            if table.name in tables:
                fail(table.place, f"table {table.name} is declared already at {tables[table.name].place}")
            tables[table.name] = table
    return [tables[name] for name in sorted(tables)], families


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def header(table):
    fields = "\n".join(f"  {TYPES[column.kind][0]} {column.name} = {TYPES[column.kind][1]};" for column in table.columns)
    vectors = "\n".join(f"  {table.storage(column)} {column.name};" for column in table.columns)
    return f"""// Generated by tools/gen_tables.py from src/{table.owner}/tables.def.
#pragma once

#include "model/table.h"

namespace debrief {{

// {table.doc}
struct {table.cpp}Row {{
{fields}
}};

class {table.cpp}Table final : public Table {{
 public:
  static constexpr std::string_view kName = "{table.name}";
  static const TableId kId;
  static const TableInfo kInfo;

{vectors}

  ~{table.cpp}Table() override;
  void Add(const {table.cpp}Row& row);
  const TableInfo& info() const override {{ return kInfo; }}
  size_t size() const override {{ return {table.columns[0].name}.size(); }}

 private:
  const void* column(size_t number) const override;
}};

}}  // namespace debrief
"""


def column_info(column):
    unit = UNITS[column.unit][0] if column.unit else "kNone"
    return (f"    {{{quoted(column.name)}, ColumnType::{TYPES[column.kind][2]}, {quoted(column.doc)}, ColumnUnit::{unit}, "
            f"{quoted(column.label)}, {'true' if column.is_uniform else 'false'}}},")


def source_file(table):
    columns = table.columns
    infos = "\n".join(column_info(column) for column in columns)
    adds = "\n".join(f"  {name}.push_back(row.{name});" for name, *_ in columns)
    cases = "\n".join(f"    case {number}: return &this->{column.name};" for number, column in enumerate(columns))
    is_derived, is_packed = ("true" if yes else "false" for yes in (table.is_derived, table.is_packed))
    return f"""// Generated by tools/gen_tables.py from src/{table.owner}/tables.def.
#include "tables/{table.name}.h"

namespace debrief {{

namespace {{
constexpr ColumnInfo k{table.cpp}Columns[] = {{
{infos}
}};
}}  // namespace

const TableInfo {table.cpp}Table::kInfo = {{{quoted(table.name)}, {quoted(table.owner)},
    {quoted(table.doc)}, k{table.cpp}Columns, {quoted(table.family)}, {is_derived}, {is_packed},
    []() -> std::unique_ptr<Table> {{ return std::make_unique<{table.cpp}Table>(); }}}};

{table.cpp}Table::~{table.cpp}Table() = default;

void {table.cpp}Table::Add(const {table.cpp}Row& row) {{
{adds}
}}

const void* {table.cpp}Table::column(size_t number) const {{
  switch (number) {{
{cases}
  }}
  return nullptr;
}}

}}  // namespace debrief
"""


def all_tables(tables):
    includes = "\n".join(f'#include "tables/{table.name}.h"' for table in tables)
    infos = "\n".join(f"    &{table.cpp}Table::kInfo," for table in tables)
    # Not in the headers: a new table would change them all, and everything that includes one would be compiled anew.
    ids = "\n".join(f"const TableId {table.cpp}Table::kId = {number};" for number, table in enumerate(tables))
    return f"""// Generated by tools/gen_tables.py: the list of all tables.
{includes}

namespace debrief {{

{ids}

std::span<const TableInfo* const> AllTables() {{
  static const TableInfo* const kAll[] = {{
{infos}
  }};
  return kAll;
}}

}}  // namespace debrief
"""


def typescript(tables):
    """`import type { TableRows } from "tables"`: a value that is null is missing."""
    def row(table):
        return "".join(f"      {column.name}?: {TYPESCRIPT[column.kind]};\n" for column in table.columns)
    rows = "".join(f"    {table.name}: {{\n{row(table)}    }};\n" for table in tables)
    return ("// Generated by tools/gen_tables.py from the tables.def files: rows as the report carries them.\n"
            f'declare module "tables" {{\n  export interface TableRows {{\n{rows}  }}\n}}\n')


def by_family(tables, families):
    """(family, tables): described families in the order of their descriptions, then others by name."""
    others = sorted({table.family for table in tables} - set(families))
    for family in [*families, *others]:
        if members := [table for table in tables if table.family == family]:
            yield family, members


def document(tables, families):
    out = ["# The tables of a run", "",
           "Made from the `tables.def` files (`make docs`); do not edit. `debrief query OUT \"SELECT ...\"` reads the tables, and any",
           "program that reads DuckDB or Parquet files can.", "",
           "* **Identity.** Every table begins with `job`, `attempt` and `rank` (INTEGER), which are not repeated below: whose row it is,",
           "  as tables [job](#job), [attempt](#attempt) and [rank](#rank) number them; null where it is of no one in particular. Tables marked",
           "  *global* have only the columns that are listed. Where there is a column `input`, it is a row of table [input](#input).",
           "* **Units.** `ns us ms s bytes MHz ppb cycles` as they say; `pct`: 50 is the half; `share`: 0.5 is the half.",
           "* **Raw or derived.** Raw tables hold what inputs say, derived tables what an analysis made of it.", "",
           "| family | about | tables |", "|---|---|---|"]
    for family, members in by_family(tables, families):
        links = " ".join(f"[{table.name}](#{table.name})" for table in members)
        out.append(f"| [{family}](#family-{family}) | {families.get(family, '')} | {links} |")
    for family, members in by_family(tables, families):
        out += ["", f"## Family {family}"]
        if family in families:
            out += ["", f"{families[family][0].upper()}{families[family][1:]}."]
        for table in members:
            out += describe(table)
    return "\n".join(out) + "\n"


def describe(table):
    kind = ("derived" if table.is_derived else "raw") + (", global" if table.is_global else "")
    columns = table.columns if table.is_global else table.columns[len(WHO):]
    return ["", f"### {table.name}", "", f"One row: {table.doc}. *{kind}*, declared in `src/{table.owner}/tables.def`.", "",
            "| column | type | unit | meaning |", "|---|---|---|---|",
            *(f"| {column.name} | {SQL[column.kind]} | {column.unit} | {column.doc} |" for column in columns)]


def write_if_changed(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main():
    source, generated = Path(sys.argv[1]), Path(sys.argv[2])
    tables, families = read_tables(source)
    wanted = {"all_tables.cc": all_tables(tables)}
    for table in tables:
        wanted[f"{table.name}.h"] = header(table)
        wanted[f"{table.name}.cc"] = source_file(table)
    for name, text in wanted.items():
        write_if_changed(generated / "tables" / name, text)
    for stale in set(path.name for path in (generated / "tables").iterdir()) - set(wanted):
        (generated / "tables" / stale).unlink()
    write_if_changed(generated / "tables.d.ts", typescript(tables))
    write_if_changed(generated / "tables.md", document(tables, families))


if __name__ == "__main__":
    main()
