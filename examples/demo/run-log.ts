import { open, readFile } from 'node:fs/promises';

/** What the tools did, by tool. */
export type ToolRuns = Record<string, { starts: number; completions: number; unknown: number }>;

interface Line {
  readonly tool: string;
  readonly callId: string;
  readonly what: 'start' | 'completion';
}

/**
 * Does `work`, and says so in a file before and after, each time on disk before it goes on: the tools' own account of
 * what ran, which no journal can embellish.
 */
export async function recordRun<T>(
  file: string,
  tool: string,
  callId: string,
  work: () => Promise<T>,
): Promise<T> {
  await append(file, { tool, callId, what: 'start' });
  const result = await work();
  await append(file, { tool, callId, what: 'completion' });
  return result;
}

/** Counts the runs in such a file. `unknown`: calls that were started and never completed. */
export async function countRuns(file: string): Promise<ToolRuns> {
  const text = await readFile(file, 'utf8');
  const lines = text
    .trim()
    .split('\n')
    .map((line): Line => JSON.parse(line));
  const byTool = Object.entries(Object.groupBy(lines, ({ tool }) => tool));
  return Object.fromEntries(byTool.map(([tool, of = []]) => [tool, countLines(of)]));
}

function countLines(lines: readonly Line[]): ToolRuns[string] {
  const starts = lines.filter(({ what }) => what === 'start');
  const completions = lines.filter(({ what }) => what === 'completion');
  const completed = new Set(completions.map(({ callId }) => callId));
  const open = new Set(starts.map(({ callId }) => callId).filter((id) => !completed.has(id)));
  return { starts: starts.length, completions: completions.length, unknown: open.size };
}

async function append(file: string, line: Line): Promise<void> {
  await using handle = await open(file, 'a');
  await handle.appendFile(`${JSON.stringify(line)}\n`);
  await handle.datasync();
}
