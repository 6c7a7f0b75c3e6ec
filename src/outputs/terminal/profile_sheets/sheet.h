// Sheets: the derived tables of profiles as people read them (`debrief profile SUBCOMMAND`).
//
// A sheet says which table it shows, and which columns in which order. What they are called, their
// units and what they mean stands in the table's own description (tables.def); the meaning is
// printed below the sheet: every number has its definition beside it. Text shows the chosen columns
// in readable units; CSV and JSON carry the whole rows, exact.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/model.h"
#include "outputs/output.h"

namespace debrief::outputs::profile_sheets {

enum class Presence : uint8_t { kNeeded, kOptional };  // optional: not worth a word without rows

struct Sheet {
  std::string_view subcommand;
  std::string_view table;
  std::string_view title;
  // Names in the table, a blank between them; "idle_ns/total_ns" shows its share of the other, too.
  std::string_view columns;
  // Largest first, by several columns with a blank between them; empty: as the table has them.
  std::string_view sort_by = {};
  std::string_view only = {};  // "scope=step": rows that have this in that column
  Presence presence = Presence::kNeeded;
  std::string_view only_definition = {};  // shown for this --definition alone
  std::string_view figures_of = {};       // rows have a `figure`: a column of this table
  // Of several ranks, text shows sums over them first: these columns, for each of `sum_by`, in the
  // order of the first sum. "idle_ns/*" shows the share of all rows as well. Empty: never summed.
  std::string_view summed = {};
  std::string_view sum_by = {};  // empty: one row for all
};

struct SheetColumn {
  std::string_view name;      // in the table
  std::string_view share_of;  // a column: also show the percentage of it
};
std::vector<SheetColumn> ColumnsOf(const Sheet& sheet);

struct SheetOptions {
  std::string definition = "debrief";
  size_t top = 20;         // rows of a sheet in the text; 0: all
  std::vector<int> ranks;  // empty: all
  bool by_rank = false;    // no sums over ranks
  int width = 100;
};

// All sheets, those of one subcommand together.
std::span<const Sheet> AllSheets();
bool IsSubcommand(std::string_view name);

// The questions, as their help lists them.
std::vector<std::string> Subcommands();
std::string ListOfSubcommands();  // a line each, with what it answers
// What one of them answers: its sheets and the meaning of their columns, in lines of `width`.
std::string HelpOf(std::string_view subcommand, int width);

// Those of a subcommand that the definition has.
std::vector<Sheet> SheetsOf(std::string_view subcommand, const SheetOptions& options);

// The tables that the sheets of a subcommand show.
std::vector<std::string_view> TablesOf(std::string_view subcommand);

// The rows of a table that a sheet shows, in its order.
struct SelectedRows {
  std::vector<size_t> rows;
  bool other_definition = false;  // the wanted one does not define this; rows are debrief's
};
SelectedRows SelectRows(const Model& model, const Table& table, const Sheet& sheet,
                        const SheetOptions& options);

// Why a table has no rows: what its analysis lacked.
std::string WhyEmpty(const Model& model, std::string_view table);

void WriteText(const Model& model, std::string_view subcommand, const SheetOptions& options,
               TextSink& out);
void WriteCsv(const Model& model, std::string_view subcommand, const SheetOptions& options,
              TextSink& out);
void WriteJson(const Model& model, std::string_view subcommand, const SheetOptions& options,
               TextSink& out);

}  // namespace debrief::outputs::profile_sheets
