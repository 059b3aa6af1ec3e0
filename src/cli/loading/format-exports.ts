import type { RejectedExport } from './exported-agents.ts';

/** Why exports were left out, as sentences with a space before each. */
export function formatRejected(rejected: readonly RejectedExport[]): string {
  return rejected.map(({ label, reason }) => ` ${label} ${reason}`).join('');
}

/** The names of exports, each with the type of its value. */
export function formatExports(exported: Readonly<Record<string, unknown>>): string {
  const listed = Object.entries(exported).map(([name, value]) => `${name} (${getTypeName(value)})`);
  return listed.length === 0 ? 'nothing' : listed.join(', ');
}

function getTypeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
