import { isRecord } from '../../core/internal.ts';
import type { Json } from '../../core/index.ts';
import { toMapChange } from '../journal/map-change.ts';
import type {
  CompiledAlternative,
  CompiledInput,
  CompiledNet,
  CompiledOutput,
  CompiledTransition,
} from '../build/compile.ts';
import { listIn } from '../journal/marking.ts';
import type { ListView } from '../journal/list-state.ts';
import type { Marking } from '../journal/marking.ts';
import { OutputError } from '../language/net-errors.ts';
import type { AnyPlace } from '../language/place.ts';
import type { Deposit, Due, ListChange, MapChange } from '../journal/record.ts';
import { parseTokenValue } from '../language/parse-token-value.ts';

/** A value that left the net through an outlet. */
export interface OutletValue {
  readonly place: string;
  readonly value: Json;
}

/** The validated outputs of a firing. An undefined member means none. */
export interface CheckedOutputs {
  readonly give: readonly Deposit[] | undefined;
  readonly lists: readonly ListChange[] | undefined;
  readonly maps: readonly MapChange[] | undefined;
  readonly outlets: readonly OutletValue[];
}

/** The facts about a firing that validating its outputs needs. */
export interface OutputContext {
  /** Returns how many tokens an input took, for `each`. */
  readonly taken: (input: string) => number;
  /** Returns the tokens of the firing, by input. Omitted for a transition without label rules. */
  readonly tokens?: () => Readonly<Record<string, unknown>>;
  readonly marking: Marking;
  readonly at: number;
  /** The lists that an effect read when it started. The lengths in its outputs refer to these. */
  readonly read?: ReadonlyMap<string, ListView>;
}

/**
 * Validates the return value of a transition against its declared outputs, and returns it in journal form. Cuts of
 * lists come before appends, because their length counts items of the list that was read.
 * @throws OutputError if the value does not match the declared outputs.
 * @throws TokenSchemaError if a token does not match the schema of its place.
 */
export function checkOutputs(
  net: CompiledNet,
  t: CompiledTransition,
  returned: unknown,
  context: OutputContext,
): CheckedOutputs {
  const checked: MutableOutputs = {
    give: undefined,
    lists: undefined,
    maps: undefined,
    outlets: none,
  };
  const [values, { outputs, keys }] = selectAlternative(t, returned);
  for (const key in values) {
    if (values[key] !== undefined && !keys.has(key)) {
      throw new OutputError(t.name, `returned "${key}", which is not a declared output`);
    }
  }
  for (const output of outputs) {
    const value = values[output.key];
    const { place } = output;
    const { arc } = output.output;
    if (arc === 'append') {
      const items = assertList(t, output, value ?? []).map((item) => parseTokenValue(place, item));
      if (items.length > 0) (checked.lists ??= []).push({ place: place.name, append: items });
    } else if (arc === 'replacePrefix' || arc === 'truncate') {
      (checked.lists ??= []).unshift(toListCut(t, output, value, context));
    } else if (arc === 'put') {
      if (value !== undefined) (checked.maps ??= []).push(toMapChange(place, value));
    } else {
      const tokens = listTokens(t, output, value, context);
      // Equal tokens, such as those of a budget, are one deposit.
      if (
        tokens.length > 1 &&
        output.labels === undefined &&
        addNulls(net, checked, place, tokens, context.at)
      )
        continue;
      for (const token of tokens) {
        const parsed = parseTokenValue(place, token);
        if (output.labels !== undefined) checkLabel(net, t, output, parsed, context);
        addDeposit(net, checked, place, parsed, context.at);
      }
    }
  }
  return checked;
}

function checkLabel(
  net: CompiledNet,
  t: CompiledTransition,
  { key, place, labels = none }: CompiledOutput,
  value: Json,
  { tokens }: OutputContext,
): void {
  const label = net.places.get(place.name)?.label?.(value);
  if (label === undefined) return;
  for (const { only, as } of labels) {
    const source = t.takes.find((input) => input.key === as);
    const copied = source && [readLabel(net, source, tokens?.()[source.key])];
    for (const allowed of [only, copied]) {
      if (allowed === undefined || allowed.includes(label)) continue;
      throw new OutputError(
        t.name,
        `returned a token for "${key}" with the label "${label}", but declares ${allowed.join(', ') || 'none'}`,
      );
    }
  }
}

function readLabel(net: CompiledNet, { place }: CompiledInput, token: unknown): string {
  return net.places.get(place)?.label?.(token) ?? '';
}

/** Members stay undefined until used, because most firings have few outputs. */
interface MutableOutputs {
  give: Deposit[] | undefined;
  lists: ListChange[] | undefined;
  maps: MapChange[] | undefined;
  outlets: readonly OutletValue[];
}

const none: readonly never[] = [];

/** Adds tokens of null as one deposit. @returns false, and adds nothing, for other tokens */
function addNulls(
  net: CompiledNet,
  checked: MutableOutputs,
  place: AnyPlace,
  tokens: readonly unknown[],
  at: number,
): boolean {
  if (place.kind === 'outlet' || place.schema !== undefined || place.kind === 'map') return false;
  if (!tokens.every((token) => token === null)) return false;
  addDeposit(net, checked, place, null, at, tokens.length);
  return true;
}

function addDeposit(
  net: CompiledNet,
  checked: MutableOutputs,
  place: AnyPlace,
  value: Json,
  at: number,
  times = 1,
): void {
  if (place.kind === 'outlet') {
    checked.outlets = [...checked.outlets, { place: place.name, value }];
    return;
  }
  const give = (checked.give ??= []);
  const last = value === null ? give.at(-1) : undefined;
  if (last !== undefined && last[0] === place.name && last[1] === null) {
    give[give.length - 1] = [
      place.name,
      null,
      { ...last[2], times: (last[2]?.times ?? 1) + times },
    ];
    return;
  }
  const deposit = toDeposit(net, place, value, at);
  give.push(times === 1 ? deposit : [deposit[0], deposit[1], { ...deposit[2], times }]);
}

/** Returns a validated value as a deposit, with the clocks that it starts. */
export function toDeposit(net: CompiledNet, place: AnyPlace, value: Json, at: number): Deposit {
  const due = dueTimes(net, place.name, value, at);
  return due === undefined ? [place.name, value] : [place.name, value, { due }];
}

/** Returns the clocks of a token that arrived at `at`. Undefined if no timed transition has a clock for it. */
export function dueTimes(
  net: CompiledNet,
  place: string,
  value: Json,
  at: number,
): Due | undefined {
  const timed = net.timedBy.get(place);
  if (timed === undefined) return undefined;
  const due: Record<string, number> = {};
  for (const t of timed) {
    const { after } = t.spec;
    const ms = typeof after === 'function' ? after(value) : (after ?? 0);
    // `Infinity` means never, so the token gets no clock.
    if (Number.isFinite(ms)) due[t.name] = at + Math.max(0, ms);
  }
  return Object.keys(due).length === 0 ? undefined : due;
}

type Values = Readonly<Record<string, unknown>>;

/** Returns the values of the returned alternative and its declared outputs. */
function selectAlternative(
  t: CompiledTransition,
  returned: unknown,
): readonly [Values, CompiledAlternative] {
  const values = toOutputRecord(t, returned);
  const all = t.alternatives.get('');
  if (all !== undefined) return [values, all];
  const keys = Object.keys(values).filter((key) => values[key] !== undefined);
  const [key] = keys;
  const alternative = key === undefined ? undefined : t.alternatives.get(key);
  if (key === undefined || alternative === undefined || keys.length > 1) {
    throw new OutputError(
      t.name,
      `must return exactly one of ${[...t.alternatives.keys()].join(', ')}, but returned ${keys.length === 0 ? 'none' : keys.join(', ')}`,
    );
  }
  return [
    alternative.grouped ? toOutputRecord(t, values[key]) : { [key]: values[key] },
    alternative,
  ];
}

function toOutputRecord(t: CompiledTransition, value: unknown): Values {
  if (isRecord(value) && !(value instanceof Promise)) return value;
  if (value instanceof Promise) {
    // Avoid an unhandled rejection: nothing else awaits this promise.
    value.catch(() => {});
    throw new OutputError(
      t.name,
      'returned a promise: only the `run` of an effect may be asynchronous',
    );
  }
  const returned = Array.isArray(value) ? 'a list' : String(value);
  throw new OutputError(t.name, `returned ${returned} instead of an object of outputs`);
}

function listTokens(
  t: CompiledTransition,
  output: CompiledOutput,
  value: unknown,
  { taken }: OutputContext,
): readonly unknown[] {
  const arc = output.output;
  if (arc.arc === 'one') {
    if (value === undefined) {
      throw new OutputError(t.name, `did not return the output "${output.key}"`);
    }
    return [value];
  }
  if (arc.arc === 'optional') return value === undefined ? [] : [value];
  const tokens = assertList(t, output, value ?? (arc.arc === 'upTo' ? [] : value));
  if (arc.arc === 'upTo' && tokens.length > arc.max) {
    throw new OutputError(
      t.name,
      `returned ${tokens.length} tokens for "${output.key}", but declares at most ${arc.max}`,
    );
  }
  if (arc.arc === 'each' && tokens.length !== taken(arc.input)) {
    throw new OutputError(
      t.name,
      `took ${taken(arc.input)} tokens as "${arc.input}" but returned ${tokens.length} for "${output.key}"; expected one for each`,
    );
  }
  return tokens;
}

function assertList(
  t: CompiledTransition,
  output: CompiledOutput,
  value: unknown,
): readonly unknown[] {
  if (!Array.isArray(value)) {
    throw new OutputError(t.name, `must return a list for "${output.key}"`);
  }
  return value;
}

function toListCut(
  t: CompiledTransition,
  output: CompiledOutput,
  value: unknown,
  { marking, read }: OutputContext,
): ListChange {
  const { place } = output;
  const list = listIn(marking, place.name);
  const view = read?.get(place.name);
  if (view !== undefined && view.version !== list.version) {
    throw new OutputError(
      t.name,
      `cuts the list "${place.name}", which another firing cut after it was read`,
    );
  }
  const size = list.items.length;
  const length =
    typeof value === 'object' && value !== null && 'length' in value ? value.length : undefined;
  if (typeof length !== 'number' || !Number.isInteger(length) || length < 0 || length > size) {
    throw new OutputError(
      t.name,
      `cuts the list "${place.name}" at ${String(length)}, but it has ${size} items`,
    );
  }
  if (output.output.arc === 'truncate') return { place: place.name, dropLast: size - length };
  const item =
    typeof value === 'object' && value !== null && 'item' in value ? value.item : undefined;
  return { place: place.name, keepLast: size - length, prefix: [parseTokenValue(place, item)] };
}
