import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { isJsonObject, type LogEvent } from '../../src/core/index.ts';
import type { JournalRecord } from '../../src/net/index.ts';
import { openStore } from '../../src/store/index.ts';

/** A line that a tool of `fleet-agents.ts` wrote. */
interface Effect {
  readonly what: 'began' | 'did';
  /** The tool and its text, which no two calls share. */
  readonly call: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

export interface EffectsReport {
  readonly calls: number;
  readonly toolRuns: number;
  /** Runs of calls that a fault had interrupted, as allowed. */
  readonly runsAgain: number;
  /** Results of calls that were interrupted and may not run again. */
  readonly unknownOutcomes: number;
  /** Messages that were given up because their owner died three times during one call of the model. */
  readonly givenUp: number;
}

/** Reads what the tools wrote. A killed process may have left a line without an end. */
export function readEffects(file: string): readonly Effect[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line): readonly Effect[] => {
      try {
        return [JSON.parse(line)];
      } catch {
        return [];
      }
    });
}

/**
 * Finds the recoveries under an epoch that was not new. The calls that they decided had not been interrupted: the process
 * that ran them was alive.
 */
export function findFalseRecoveries(records: readonly JournalRecord[]): readonly JournalRecord[] {
  let last = 0;
  return records.filter((record) => {
    if (record.kind !== 'owned') return false;
    const isFalse = record.epoch <= last;
    last = record.epoch;
    return isFalse;
  });
}

/**
 * Compares what the tools wrote with the journals: each call has one result; a result `ok` means that the tool ran to its
 * end; what may not run twice ran once; no call began after its result was stored. No call was decided under an owner who
 * was alive.
 */
export async function checkEffects(store: string, file: string): Promise<EffectsReport> {
  const runs = Map.groupBy(readEffects(file), ({ call }) => call);
  const results = new Map<string, Extract<LogEvent, { readonly type: 'tool.result' }>>();
  const opened = await openStore(store);
  let givenUp = 0;
  try {
    for (const { key } of await opened.list({})) {
      const records: JournalRecord[] = [];
      for await (const step of opened.steps(key, 0)) records.push(...step.records);
      const [recovered] = findFalseRecoveries(records);
      assert.equal(recovered, undefined, `${key.sessionId}: ${JSON.stringify(records)}`);
      const calls = new Map<string, string>();
      for await (const event of opened.read(key)) {
        if (event.type === 'error' && event.code === 'message_poisoned') givenUp++;
        if (event.type === 'tool.call') {
          const text = isJsonObject(event.args) ? String(event.args['text']) : '';
          calls.set(event.callId, `${event.name} ${text}`);
        } else if (event.type === 'tool.result') {
          const call = calls.get(event.callId) ?? assert.fail(`A result of no call: ${event.name}`);
          assert.ok(!results.has(call), `${call} has two results`);
          results.set(call, event);
        }
      }
      for (const call of calls.values()) assert.ok(results.has(call), `${call} has no result`);
    }
  } finally {
    await opened.close();
  }
  for (const [call, lines] of runs) {
    const { outcome, at } = results.get(call) ?? assert.fail(`${call} ran and is in no journal`);
    const began = lines.filter(({ what }) => what === 'began');
    if (!call.startsWith('look')) assert.equal(began.length, 1, `${call} ran twice`);
    for (const run of began)
      assert.ok(run.at <= at, `${call} began ${run.at - at} ms after its result was stored`);
    if (outcome === 'ok')
      assert.ok(
        lines.some(({ what }) => what === 'did'),
        `${call} ended`,
      );
  }
  for (const [call, { outcome }] of results)
    if (outcome === 'ok') assert.ok(runs.has(call), `${call} has a result and did not run`);
  const began = [...runs.values()].map((lines) => lines.filter(({ what }) => what === 'began'));
  const toolRuns = began.reduce((sum, { length }) => sum + length, 0);
  return {
    calls: results.size,
    toolRuns,
    runsAgain: toolRuns - runs.size,
    unknownOutcomes: [...results.values()].filter(({ outcome }) => outcome === 'unknown').length,
    givenUp,
  };
}
