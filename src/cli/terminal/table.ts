import { padColumns, textWidth } from './text-width.ts';

/**
 * Formats rows in columns as wide as their widest cell, separated by two spaces. The last column is
 * not padded.
 */
export function formatTable(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, textWidth(cell));
  }
  return rows.map((row) =>
    row
      .map((cell, i) => padColumns(cell, widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
