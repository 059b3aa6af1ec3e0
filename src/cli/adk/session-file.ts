import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import * as v from 'valibot';
import type { Event, Json, JsonObject } from '../../core/index.ts';
import { decodeJson } from '../../core/index.ts';
import { parseJsonWithSchema } from '../../core/validation/parse-with-schema.ts';
import type { Session } from '../../adk/index.ts';
import { UsageError } from '../command/usage-error.ts';

const state = v.optional(v.record(v.string(), v.any()), {});

const replaySchema = v.strictObject({ state, queries: v.array(v.string()) });

const sessionSchema = v.looseObject({ state, events: v.array(v.looseObject({})) });

/** The state and the messages of a `--replay` file. */
export type ReplayFile = { readonly state: JsonObject; readonly queries: readonly string[] };

/** The state and the events of a session that `--save_session` wrote. */
export type SavedSession = { readonly state: JsonObject; readonly events: readonly Event[] };

/** @throws UsageError if the file cannot be read or is no such file */
export async function readReplayFile(file: string, cwd: string): Promise<ReplayFile> {
  return read(file, cwd, '--replay', (value) => parseJsonWithSchema(replaySchema, value, 'replay'));
}

/** @throws UsageError if the file cannot be read or is no such file */
export async function readSavedSession(file: string, cwd: string): Promise<SavedSession> {
  return read(file, cwd, '--resume', (value) => {
    const saved = parseJsonWithSchema(sessionSchema, value, 'session');
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- appending an event checks it
    return { state: saved.state, events: saved.events as unknown as readonly Event[] };
  });
}

/** Writes a session beside its agent, and returns the path. */
export async function writeSession(session: Session, folder: string, id: string): Promise<string> {
  const path = join(folder, `${id}.session.json`);
  const { appName, userId, events, lastUpdateTime } = session;
  const saved = { id: session.id, appName, userId, state: session.state, events, lastUpdateTime };
  await writeFile(path, `${JSON.stringify(saved, undefined, 2)}\n`);
  return path;
}

async function read<T>(
  file: string,
  cwd: string,
  flag: string,
  parse: (value: Json) => T,
): Promise<T> {
  try {
    return parse(decodeJson(await readFile(resolve(cwd, file), 'utf8'), 'file'));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${flag} ${file} cannot be used: ${reason}`, 'adk');
  }
}
