import { open, readFile } from 'node:fs/promises';
import { tool } from 'petrichor';
import type { Tool, ToolContext } from 'petrichor';
import { z } from 'zod';
import type { Folder } from './folder.ts';
import { recordRun } from './run-log.ts';

/** A point in the middle of a tool's work, where a demonstration may end the process. */
export interface Point {
  readonly tool: string;
  readonly callId: string;
  readonly done: string;
}

export interface Workplace {
  readonly folder: Folder;
  /** Where `write_report` writes. */
  readonly report: string;
  /** Where every tool notes its starts and completions. */
  readonly runs: string;
  /** Resolves when the work may go on. */
  readonly reached: (point: Point) => Promise<void>;
}

const path = z.object({ path: z.string() });

/** The tools: real work on real files. */
export function createTools({ folder, report, runs, reached }: Workplace): readonly Tool[] {
  const listFiles = tool({
    name: 'list_files',
    description: 'Lists the text files under a path.',
    parameters: path,
    readOnly: true,
    execute: (args, { callId }) =>
      recordRun(runs, 'list_files', callId, async () => {
        return { files: await folder.textFiles(args.path) };
      }),
  });

  const readText = tool({
    name: 'read_file',
    description: 'Reads a text file.',
    parameters: path,
    readOnly: true,
    execute: (args, { callId }) =>
      recordRun(runs, 'read_file', callId, async () => {
        return { text: await readFile(await folder.inside(args.path), 'utf8') };
      }),
  });

  const countWords = tool({
    name: 'count_words',
    description: 'Counts the words of all text files under a path.',
    parameters: path,
    readOnly: true,
    execute: (args, { callId }) =>
      recordRun(runs, 'count_words', callId, async () => {
        const files = await folder.textFiles(args.path);
        const half = Math.floor(files.length / 2);
        let words = 0;
        for (const [index, file] of files.entries()) {
          if (index === half) {
            const done = `${half} of ${files.length} files counted`;
            await reached({ tool: 'count_words', callId, done });
          }
          const text = await readFile(await folder.inside(file), 'utf8');
          words += text.match(/\S+/g)?.length ?? 0;
        }
        return { path: args.path, files: files.length, words };
      }),
  });

  // Not idempotent: it appends, so doing it twice would leave the report there twice.
  const writeReport = tool({
    name: 'write_report',
    description: 'Appends a text to the report.',
    parameters: z.object({ text: z.string() }),
    needsApproval: true,
    onCrash: 'ask',
    execute: ({ text }, { callId }: ToolContext) =>
      recordRun(runs, 'write_report', callId, async () => {
        const half = Math.floor(text.length / 2);
        await using file = await open(report, 'a');
        await file.appendFile(text.slice(0, half));
        await file.datasync();
        await reached({ tool: 'write_report', callId, done: 'half of the file written' });
        await file.appendFile(text.slice(half));
        await file.datasync();
        await reached({ tool: 'write_report', callId, done: 'the whole file written' });
        return { written: text.length };
      }),
  });

  return [listFiles, readText, countWords, writeReport];
}
