//! The printed tables, in Markdown.

use std::collections::BTreeSet;
use std::fmt;

use crate::results::{Metric, Row};

/// A table with a row for each server and a column for each case: processor time per request.
pub(crate) struct Summary<'a>(pub(crate) &'a [Row]);

/// A table for each case, with all of its numbers.
pub(crate) struct Details<'a>(pub(crate) &'a [Row]);

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let measured =
            |row: &&Row| row.void.is_some() || row.numbers.contains_key(&Metric::CpuMicros);
        let rows: Vec<&Row> = self.0.iter().filter(measured).collect();
        let cases = in_order(rows.iter().map(|row| row.case.as_str()));
        let mut head = vec!["CPU per request, µs".to_owned()];
        head.extend(cases.iter().map(|case| (*case).to_owned()));
        head.push("durability of a turn".to_owned());
        write_head(f, &head)?;
        for server in in_order(rows.iter().map(|row| row.server.as_str())) {
            let mut cells = vec![server.to_owned()];
            let find =
                |case: &str| rows.iter().find(|row| row.server == server && row.case == case);
            cells.extend(
                cases.iter().map(|case| find(case).map_or("–".to_owned(), |row| cell(row))),
            );
            let durability = rows.iter().find(|row| row.server == server).map(|row| row.durability);
            cells.push(durability.unwrap_or_default().to_owned());
            write_row(f, &cells)?;
        }
        Ok(())
    }
}

fn cell(row: &Row) -> String {
    match row.void {
        Some(_) => "void".to_owned(),
        None if row.delegated => "no state".to_owned(),
        None => shown(row.numbers.get(&Metric::CpuMicros)),
    }
}

impl fmt::Display for Details<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for case in in_order(self.0.iter().map(|row| row.case.as_str())) {
            let rows: Vec<&Row> = self.0.iter().filter(|row| row.case == case).collect();
            let metrics: BTreeSet<Metric> =
                rows.iter().flat_map(|row| row.numbers.keys().copied()).collect();
            let mut head = vec![case.to_owned()];
            head.extend(metrics.iter().map(|metric| metric.name().to_owned()));
            head.push("notes".to_owned());
            writeln!(f)?;
            write_head(f, &head)?;
            for row in rows {
                let mut cells = vec![row.server.clone()];
                cells.extend(metrics.iter().map(|metric| shown(row.numbers.get(metric))));
                let void = row.void.iter().map(|fault| format!("void: {fault}"));
                cells.push(void.chain(row.notes.iter().cloned()).collect::<Vec<_>>().join("; "));
                write_row(f, &cells)?;
            }
        }
        Ok(())
    }
}

fn write_head(f: &mut fmt::Formatter<'_>, cells: &[String]) -> fmt::Result {
    write_row(f, cells)?;
    writeln!(f, "|{}", "---|".repeat(cells.len()))
}

fn write_row(f: &mut fmt::Formatter<'_>, cells: &[String]) -> fmt::Result {
    writeln!(f, "| {} |", cells.join(" | "))
}

fn shown(number: Option<&f64>) -> String {
    match number {
        None => "–".to_owned(),
        Some(number) if *number >= 100.0 => format!("{number:.0}"),
        Some(number) if *number >= 10.0 => format!("{number:.1}"),
        Some(number) => format!("{number:.2}"),
    }
}

/// The different names, in the order of their first appearance.
fn in_order<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found = Vec::new();
    for name in names {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}
