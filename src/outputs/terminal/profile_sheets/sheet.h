// Sheets: the derived tables of profiles as people read them (`debrief profile SUBCOMMAND`).
//
// A sheet says which table it shows, which columns in which order, and what they are called. What a
// column means stands in the table's own description and is printed below the sheet: every number
// has its definition beside it. Text shows the chosen columns in readable units; CSV and JSON carry
// the whole rows, exact.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/model.h"
#include "outputs/output.h"

namespace debrief::outputs::profile_sheets {

struct SheetColumn {
  std::string_view name;           // in the table
  std::string_view head;           // in the text; empty: not in the text
  std::string_view share_of = {};  // a column: also show the percentage of it
};

struct Sheet {
  std::string_view subcommand;
  std::string_view table;
  std::string_view title;
  std::span<const SheetColumn> columns;
  std::string_view sort_by = {};      // largest first; empty: as the table has them
  std::string_view only_column = {};  // show rows whose `only_column` is `only_value`
  std::string_view only_value = {};
  bool optional = false;                  // not worth a word when it has no rows
  std::string_view only_definition = {};  // shown for this --definition alone
};

struct SheetOptions {
  std::string definition = "debrief";
  size_t top = 20;         // rows of a sheet in the text; 0: all
  std::vector<int> ranks;  // empty: all
  int width = 100;
};

// All sheets, those of one subcommand together.
std::span<const Sheet> AllSheets();
bool IsSubcommand(std::string_view name);

// Whether a sheet belongs to what was asked for.
bool IsAskedFor(const Sheet& sheet, std::string_view subcommand, const SheetOptions& options);

// The tables that the sheets of a subcommand show.
std::vector<std::string_view> TablesOf(std::string_view subcommand);

void WriteText(const Model& model, std::string_view subcommand, const SheetOptions& options,
               TextSink& out);
void WriteCsv(const Model& model, std::string_view subcommand, const SheetOptions& options,
              TextSink& out);
void WriteJson(const Model& model, std::string_view subcommand, const SheetOptions& options,
               TextSink& out);

}  // namespace debrief::outputs::profile_sheets
