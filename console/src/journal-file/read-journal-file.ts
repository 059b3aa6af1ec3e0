import { parseRecords } from '../../../src/net/journal/index.ts';
import type { SessionEvent, SessionForkPoint, SessionNet, SessionRow } from '../api/types.ts';
import { JournalHistory } from '../session/journal-history.ts';

/** A line of a file that `GET /v1/sessions/ID/journal` returned. */
interface Line {
  readonly type?: unknown;
  readonly version?: unknown;
  readonly redacted?: unknown;
  readonly session?: SessionRow;
  readonly net?: SessionNet | null;
  readonly step?: unknown;
  readonly record?: unknown;
  readonly event?: SessionEvent;
  readonly fork_point?: SessionForkPoint;
  /** Of a step: its records. Of the end: their number. */
  readonly records?: unknown;
  readonly events?: unknown;
}

/** A session that was read from a file. */
export interface JournalFile {
  readonly name: string;
  /** Whether its values were replaced when it was written. */
  readonly isRedacted: boolean;
  readonly session: SessionRow;
  /** Undefined: the agent was not known where it was written. */
  readonly net: SessionNet | undefined;
  readonly history: JournalHistory;
  readonly events: readonly SessionEvent[];
  readonly forkPoints: readonly SessionForkPoint[];
}

/** Version 1 has a line per record; version 2 has a line per step, and what a store needs to continue the session. */
const VERSIONS: readonly unknown[] = [1, 2];

/**
 * Reads the file of a journal. Nothing is sent.
 * @throws Error if it is no journal file, of another version, damaged, or cut off
 */
export async function readJournalFile(
  file: Blob & { readonly name: string },
): Promise<JournalFile> {
  const history = new JournalHistory();
  const events: SessionEvent[] = [];
  const forkPoints: SessionForkPoint[] = [];
  let head: Line | undefined;
  let end: Line | undefined;
  let number = 0;
  let sessions = 0;
  for await (const text of readLines(file)) {
    number++;
    const line = parseLine(text, number);
    if (number === 1) {
      head = checkHead(line, file.name);
      continue;
    }
    if (end !== undefined) throw damaged(number, 'comes after the end');
    switch (line.type) {
      case 'record':
        append(history, line, number);
        break;
      case 'session':
        sessions++;
        break;
      case 'step':
        // The sessions of called agents follow.
        if (sessions <= 1)
          for (const record of readRecords(line, number))
            append(history, { record, step: line.step }, number);
        break;
      case 'event':
        if (typeof line.event?.seq !== 'number') throw damaged(number, 'has no event');
        events.push(line.event);
        break;
      case 'fork_point':
        if (typeof line.fork_point?.record !== 'number') throw damaged(number, 'has no position');
        forkPoints.push(line.fork_point);
        break;
      case 'end':
        end = line;
        break;
      default:
        // Lines of later releases are not shown.
        break;
    }
  }
  if (head?.session === undefined) throw new Error(`${file.name} is empty.`);
  if (end?.records !== history.last || end.events !== events.length)
    throw new Error(
      `${file.name} was cut off: it has ${history.last} records and ${events.length} events, and not its end. Export the session again.`,
    );
  const { session, net } = head;
  const isRedacted = head.redacted === true;
  return {
    name: file.name,
    isRedacted,
    session,
    net: net ?? undefined,
    history,
    events,
    forkPoints,
  };
}

function checkHead(line: Line, name: string): Line {
  if (line.type !== 'journal' || typeof line.session?.id !== 'string')
    throw new Error(`${name} is not a journal file. Export one from the page of a session.`);
  if (!VERSIONS.includes(line.version))
    throw new Error(
      `${name} has version ${JSON.stringify(line.version)} of the format. This console reads the versions 1 and 2.`,
    );
  return line;
}

function readRecords({ records }: Line, number: number): readonly unknown[] {
  if (Array.isArray(records)) return records;
  throw damaged(number, 'has no records');
}

function append(history: JournalHistory, { record, step }: Line, number: number): void {
  try {
    for (const one of parseRecords([record])) history.append(one, Number(step));
  } catch (error) {
    throw damaged(number, error instanceof Error ? error.message : String(error));
  }
}

function parseLine(text: string, number: number): Line {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Said below.
  }
  if (number === 1) return {};
  throw damaged(number, 'is not a JSON object');
}

function damaged(number: number, problem: string): Error {
  return new Error(`The file is damaged: line ${number} ${problem}.`);
}

async function* readLines(file: Blob): AsyncGenerator<string, void, undefined> {
  const reader = file.stream().pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}
