import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { isJsonObject } from '../../src/core/index.ts';
import { applyRecord, compile, emptyMarking, planUpgrade } from '../../src/net/index.ts';
import type { Attempt, CompiledNet, JournalRecord, Marking, Token } from '../../src/net/index.ts';
import { copyMarking, renameMarking, renameRecord } from '../../src/net/internal.ts';
import { replay, restore, visible } from './executor-harness.ts';
import { RandomExecution, randomScenario } from './random-execution.ts';
import type { LeftSession, RandomScenario } from './random-execution.ts';
import { toNet } from './random-net.ts';

export interface RenamingScenario extends RandomScenario {
  /** The number of groups of moves before the renaming. */
  readonly before: number;
  /** Chooses the new names. Equal names stay. */
  readonly order: readonly number[];
}

/** A run of a random net, a point in it, and other names. */
export const renamingScenario: fc.Arbitrary<RenamingScenario> = fc
  .tuple(randomScenario, fc.nat(6), fc.uniqueArray(fc.nat(40), { minLength: 18, maxLength: 18 }))
  .map(([scenario, before, order]) => ({ ...scenario, before, order }));

/**
 * Asserts that a renamed net continues the journal of the net with the old names: it has the same marking and writes the
 * same records, except for the names. Both readers of the whole journal agree: one that translates the old records, and
 * one that knows no names and follows the `upgraded` record.
 */
export async function assertRenamedNetContinues(scenario: RenamingScenario): Promise<void> {
  const { plan, moves, before, order } = scenario;
  const past = moves.slice(0, before);
  const future = moves.slice(before);
  const oldNet = compile(toNet(plan));
  const net = compile(toNet(plan, toRename(order)));
  const old = new RandomExecution(oldNet);
  await old.run(past);

  const stored = replay(old.records);
  const renamed = copyMarking(stored);
  renameMarking(renamed, net);
  const translated = translate(old.records, net);
  assert.deepEqual(visible(replay(translated)), visible(renamed), 'records and marking differ');
  const fromSnapshot = restore(stored, old.records);
  renameMarking(fromSnapshot, net);
  assert.deepEqual(visible(fromSnapshot), visible(renamed), 'snapshot and marking differ');

  const left = { now: old.play.now, attempts: old.attempts.map((one) => toRenamed(one, net)) };
  const next = new RandomExecution(net, {
    ...left,
    marking: copyMarking(renamed),
    records: translated,
  });
  const upgrade = planUpgrade(stored, net);
  const upgraded = async (marking: Marking): Promise<RandomExecution> => {
    const session: LeftSession = { ...left, marking, records: old.records, upgrade };
    const execution = new RandomExecution(net, session);
    await execution.run(future);
    return execution;
  };
  const fromRenamed = await upgraded(copyMarking(renamed));
  const fromStored = await upgraded(copyMarking(stored));
  await next.run(future);
  await old.run(future);

  assert.deepEqual(
    withoutTexts(next.records),
    withoutTexts(translate(old.records, net)),
    'the renamed net goes another way',
  );
  assert.deepEqual(fromStored.records, fromRenamed.records, 'the marking in memory matters');
  const live = toComparable(fromRenamed.play.marking, net);
  assert.deepEqual(
    toComparable(replay(fromRenamed.records), net),
    live,
    'a reader without names differs',
  );
  assert.deepEqual(
    toComparable(replay(translate(fromRenamed.records, net)), net),
    live,
    'a reader with names differs',
  );
}

/** Some names stay. New names are not old names. */
function toRename(order: readonly number[]): Parameters<typeof toNet>[1] {
  return (name) => {
    const [area = '', key = ''] = name.split('.');
    const special = ['list', 'map', 'out'].indexOf(key);
    const index = area === 't' ? 10 + Number(key) : special < 0 ? Number(key) : 7 + special;
    const target = order[index] ?? assert.fail(name);
    return target % 4 === 0
      ? { name, formerNames: [`earlier.${target}`] }
      : { name: `new.${target}`, formerNames: [`earlier.${target}`, name] };
  };
}

function translate(records: readonly JournalRecord[], net: CompiledNet): readonly JournalRecord[] {
  const marking = emptyMarking();
  return records.map((record) => {
    const current = renameRecord(record, marking, net);
    applyRecord(marking, current);
    return current;
  });
}

function toRenamed(attempt: Attempt, net: CompiledNet): Attempt {
  const { name } = attempt.t;
  const t = net.byName.get(net.formerNames.transitions.get(name) ?? name) ?? assert.fail(name);
  return { ...attempt, t };
}

/** Texts of errors contain names. */
function withoutTexts(records: readonly JournalRecord[]): readonly unknown[] {
  return records.map((record) => ({
    ...record,
    ...('reason' in record && { reason: '' }),
    ...('error' in record && { error: record.error.code }),
  }));
}

/**
 * What the journal keeps under a former name, and nothing reads by name: the clocks of such a transition, and the name of
 * the transition in a fault.
 */
function toComparable(marking: Marking, net: CompiledNet): unknown {
  const clean = (tokens: readonly Token[]): Token[] =>
    tokens.map(({ due, ...withFault }) => {
      const { value } = withFault;
      const isFault = isJsonObject(value) && 'transition' in value;
      const token = isFault ? { ...withFault, value: { ...value, transition: '' } } : withFault;
      const current = Object.entries(due ?? {}).filter(([t]) => net.byName.has(t));
      return current.length === 0 ? token : { ...token, due: Object.fromEntries(current) };
    });
  const cleanPlaces = (places: ReadonlyMap<string, readonly Token[]>): Map<string, Token[]> =>
    new Map([...places].map(([place, tokens]) => [place, clean(tokens)]));
  // A token that a firing holds has no clock anymore.
  const withoutClocks = (
    places: ReadonlyMap<string, readonly Token[]>,
  ): ReadonlyMap<string, readonly Token[]> =>
    new Map(
      [...places].map(([place, tokens]) => [
        place,
        tokens.map(({ kind, id, at, value }) => ({ kind, id, at, value })),
      ]),
    );
  const firings = [...marking.firings.values()].map((firing) => ({
    ...firing,
    inputs: withoutClocks(firing.inputs),
    reads: { ...firing.reads, tokens: withoutClocks(firing.reads.tokens) },
  }));
  return visible({
    ...marking,
    tokens: cleanPlaces(marking.tokens),
    firings: new Map(firings.map((firing) => [firing.id, firing])),
  });
}
