import { createHash, randomUUID } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../files/internal.ts';
import * as v from 'valibot';
import type { CachedResult, ProofCache } from './proof-cache.ts';

/** The first member of each file. It changes when the members of an entry do. */
const FORMAT = 'petrichor proof 1';

const names = v.pipe(v.array(v.string()), v.readonly());
const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const counts = v.pipe(v.record(v.string(), count), v.readonly());

const traceStep = v.pipe(
  v.strictObject({
    kind: v.picklist([
      'injected',
      'fired',
      'started',
      'ended',
      'retrying',
      'restarted',
      'faulted',
      'draining',
      'owned',
    ]),
    transition: v.exactOptional(v.string()),
    alternative: v.exactOptional(v.string()),
    gives: counts,
  }),
  v.readonly(),
);

const trace = v.pipe(
  v.strictObject({
    steps: v.pipe(v.array(traceStep), v.readonly()),
    markings: v.pipe(v.array(counts), v.readonly()),
    marking: counts,
    circleFrom: v.exactOptional(count),
    circleTo: v.exactOptional(count),
  }),
  v.readonly(),
);

const contract = v.pipe(
  v.strictObject({
    component: v.string(),
    verdict: v.picklist(['proved', 'unknown']),
    states: count,
    sameAs: v.exactOptional(v.string()),
    reason: v.exactOptional(v.string()),
  }),
  v.readonly(),
);

const facts = {
  by: v.string(),
  over: names,
  states: count,
  durationMs: v.pipe(v.number(), v.minValue(0)),
  unfired: v.exactOptional(names),
  contracts: v.exactOptional(v.pipe(v.array(contract), v.readonly())),
};

/** A result as it is stored, without its property: the key stands for it. */
const storedResult = v.variant('verdict', [
  v.strictObject({
    verdict: v.literal('proved'),
    ...facts,
    unreached: v.exactOptional(names),
  }),
  v.strictObject({ verdict: v.literal('refuted'), ...facts, trace }),
]);

const entry = v.strictObject({
  format: v.literal(FORMAT),
  key: v.string(),
  sha256: v.string(),
  result: v.string(),
});

/**
 * Creates a cache that stores each result in a file of this folder, which is created when it is needed. Several
 * processes can use one folder. A file that is damaged, or that another program or version has written, is ignored and
 * replaced. A folder that cannot be read or written is an empty cache: the proof runs as without one.
 */
export function createFileProofCache(folder: string): ProofCache {
  return {
    get: (key) => {
      const text = readIfPossible(toPath(folder, key));
      return text === undefined ? undefined : parseEntry(text, key);
    },
    set: (key, result) => {
      const text = formatEntry(result, key);
      if (text !== undefined) writeIfPossible(folder, toPath(folder, key), text);
    },
  };
}

function toPath(folder: string, key: string): string {
  return join(folder, `${key}.json`);
}

function formatEntry(
  { property: _property, ...rest }: CachedResult,
  key: string,
): string | undefined {
  // What is not a result that can be read again is not stored.
  const { success } = v.safeParse(storedResult, rest);
  if (!success) return undefined;
  const result = JSON.stringify(rest);
  return `${JSON.stringify({ format: FORMAT, key, sha256: toHash(key, result), result })}\n`;
}

function parseEntry(text: string, key: string): ReturnType<ProofCache['get']> {
  const read = v.safeParse(entry, parseJson(text));
  if (!read.success || read.output.key !== key) return undefined;
  const { sha256, result } = read.output;
  if (sha256 !== toHash(key, result)) return undefined;
  const stored = v.safeParse(storedResult, parseJson(result));
  return stored.success ? stored.output : undefined;
}

function toHash(key: string, result: string): string {
  return createHash('sha256').update(`${FORMAT}\n${key}\n${result}`).digest('hex');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readIfPossible(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** Writes a file so that readers see all of it or nothing. */
function writeIfPossible(folder: string, path: string, text: string): void {
  const unfinished = `${path}.${randomUUID()}.tmp`;
  try {
    makeFolder(folder, 0o777);
    writeFileSync(unfinished, text, { flag: 'wx' });
    renameSync(unfinished, path);
  } catch {
    // Without an entry, the next proof searches again.
    rmIfPossible(unfinished);
  }
}

function rmIfPossible(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The folder is not a folder. There is nothing to remove.
  }
}
