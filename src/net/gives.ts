import type { Json } from '../core/json.ts';
import { mapChangeOf } from './map-change.ts';
import type { MapWrites } from './arcs.ts';
import type { CompiledNet, CompiledOutput, CompiledTransition } from './compile.ts';
import { listIn } from './marking.ts';
import type { Marking } from './marking.ts';
import { OutputError } from './net-errors.ts';
import type { AnyPlace } from './place.ts';
import type { Deposit, Due, Gives, ListChange, MapChange } from './record.ts';
import { toTokenValue } from './schema.ts';

/** A value that left the net through an outlet. */
export interface OutletValue {
  readonly place: string;
  readonly value: Json;
}

export interface CheckedGives extends Gives {
  readonly outlets: readonly OutletValue[];
}

/**
 * What a transition returned, held against what it declared, as the journal will have it.
 * @param taken how many tokens each input took, for `each`.
 * @throws OutputError, TokenSchemaError
 */
export function checkGives(
  net: CompiledNet,
  t: CompiledTransition,
  returned: unknown,
  taken: ReadonlyMap<string, number>,
  marking: Marking,
  at: number,
): CheckedGives {
  const checked = {
    give: [] as Deposit[],
    lists: [] as ListChange[],
    maps: [] as MapChange[],
    outlets: [] as OutletValue[],
  };
  const [values, outputs] = chosen(t, returned);
  for (const key of Object.keys(values)) {
    if (values[key] !== undefined && !outputs.some((output) => output.key === key)) {
      throw new OutputError(t.name, `gave "${key}", which it does not declare`);
    }
  }
  for (const output of outputs) {
    const value = values[output.key];
    const { place } = output;
    const arc = 'kind' in output.output ? 'one' : output.output.arc;
    if (arc === 'append') {
      const items = listOf(t, output, value ?? []).map((item) => toTokenValue(place, item));
      if (items.length > 0) checked.lists.push({ place: place.name, append: items });
    } else if (arc === 'replacePrefix' || arc === 'truncate') {
      checked.lists.push(listCut(t, output, value, marking));
    } else if (arc === 'put') {
      if (value !== undefined) checked.maps.push(mapChangeOf(place, value as MapWrites));
    } else {
      for (const token of tokensGiven(t, output, value, taken)) {
        put(net, checked, place, toTokenValue(place, token), at);
      }
    }
  }
  return {
    outlets: checked.outlets,
    ...(checked.give.length > 0 && { give: checked.give }),
    ...(checked.lists.length > 0 && { lists: checked.lists }),
    ...(checked.maps.length > 0 && { maps: checked.maps }),
  };
}

function put(
  net: CompiledNet,
  checked: { readonly give: Deposit[]; readonly outlets: OutletValue[] },
  place: AnyPlace,
  value: Json,
  at: number,
): void {
  if (place.kind === 'outlet') {
    checked.outlets.push({ place: place.name, value });
    return;
  }
  const last = checked.give.at(-1);
  if (value === null && last !== undefined && last[0] === place.name && last[1] === null) {
    checked.give[checked.give.length - 1] = [
      place.name,
      null,
      { ...last[2], times: (last[2]?.times ?? 1) + 1 },
    ];
    return;
  }
  checked.give.push(depositOf(net, place, value, at));
}

/** A checked value as a deposit, with the clocks it starts. */
export function depositOf(net: CompiledNet, place: AnyPlace, value: Json, at: number): Deposit {
  const timed = net.timedBy.get(place.name);
  if (timed === undefined) return [place.name, value];
  const due: Record<string, number> = {};
  for (const t of timed) {
    const { after } = t.spec;
    // The clock was typed against this place where the transition was made.
    const ms = typeof after === 'function' ? after(value as never) : (after ?? 0);
    // A token that never falls due has no clock.
    if (Number.isFinite(ms)) due[t.name] = at + Math.max(0, ms);
  }
  return Object.keys(due).length === 0
    ? [place.name, value]
    : [place.name, value, { due: due satisfies Due }];
}

type Values = Readonly<Record<string, unknown>>;

/** The alternative that was returned: its values and what it declares. */
function chosen(
  t: CompiledTransition,
  returned: unknown,
): readonly [Values, readonly CompiledOutput[]] {
  if (typeof returned !== 'object' || returned === null) {
    throw new OutputError(t.name, `returned ${String(returned)} instead of its outputs`);
  }
  const values = returned as Values;
  const all = t.alternatives.get('');
  if (all !== undefined) return [values, all.outputs];
  const keys = Object.keys(values).filter((key) => values[key] !== undefined);
  const [key] = keys;
  const alternative = key === undefined ? undefined : t.alternatives.get(key);
  if (key === undefined || alternative === undefined || keys.length > 1) {
    throw new OutputError(
      t.name,
      `gives one of ${[...t.alternatives.keys()].join(', ')} and returned ${keys.length === 0 ? 'none' : keys.join(', ')}`,
    );
  }
  return alternative.grouped
    ? [values[key] as Values, alternative.outputs]
    : [{ [key]: values[key] }, alternative.outputs];
}

function tokensGiven(
  t: CompiledTransition,
  output: CompiledOutput,
  value: unknown,
  taken: ReadonlyMap<string, number>,
): readonly unknown[] {
  const arc = output.output;
  if ('kind' in arc) {
    if (value === undefined) throw new OutputError(t.name, `did not give "${output.key}"`);
    return [value];
  }
  if (arc.arc === 'optional') return value === undefined ? [] : [value];
  const tokens = listOf(t, output, value ?? (arc.arc === 'upTo' ? [] : value));
  if (arc.arc === 'upTo' && tokens.length > arc.max) {
    throw new OutputError(
      t.name,
      `gave ${tokens.length} tokens for "${output.key}", at most ${arc.max} are declared`,
    );
  }
  if (arc.arc === 'each' && tokens.length !== (taken.get(arc.input) ?? 0)) {
    throw new OutputError(
      t.name,
      `took ${taken.get(arc.input) ?? 0} tokens as "${arc.input}" and gave ${tokens.length} for "${output.key}"`,
    );
  }
  return tokens;
}

function listOf(t: CompiledTransition, output: CompiledOutput, value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new OutputError(t.name, `must give a list for "${output.key}"`);
  return value;
}

function listCut(
  t: CompiledTransition,
  output: CompiledOutput,
  value: unknown,
  marking: Marking,
): ListChange {
  const { place } = output;
  const held = listIn(marking, place.name).items.length;
  const length =
    typeof value === 'object' && value !== null && 'length' in value ? value.length : undefined;
  if (typeof length !== 'number' || !Number.isInteger(length) || length < 0 || length > held) {
    throw new OutputError(
      t.name,
      `cuts "${place.name}" at ${String(length)}, but the list has ${held} items`,
    );
  }
  if (!('kind' in output.output) && output.output.arc === 'truncate')
    return { place: place.name, dropLast: held - length };
  const item =
    typeof value === 'object' && value !== null && 'item' in value ? value.item : undefined;
  return { place: place.name, keepLast: held - length, prefix: [toTokenValue(place, item)] };
}
