import { isJsonObject, omitUndefined } from '../../core/internal.ts';
import type { Json } from '../../core/index.ts';
import { faultPlace, unhandledFaultPlace } from '../language/fault.ts';
import { currentPlaceName, currentTransitionName } from '../language/former-names.ts';
import type { FormerNames } from '../language/former-names.ts';
import { decodeMarking, encodeMarking } from './encoded-marking.ts';
import type { Marking } from './marking.ts';
import type {
  Deposit,
  JournalRecord,
  NetVersion,
  Pin,
  RecordOutputs,
  TokenRemoval,
  Trimmed,
} from './record.ts';
import {
  hasFormerNames,
  renameDue,
  renameFault,
  renameKeys,
  renameMarking,
  renameVersions,
} from './rename-marking.ts';
import type { NamedNet } from './rename-marking.ts';

/**
 * Returns a stored record with the current names of places and transitions. A record of the same net, and one without
 * former names, is returned as it is.
 * @param marking the marking before the record, with current names
 */
export function renameRecord(
  record: JournalRecord,
  marking: Pick<Marking, 'net'>,
  net: NamedNet,
): JournalRecord {
  if (record.kind === 'trimmed') return renameBase(record, net);
  const written = record.kind === 'injected' ? (record.net ?? marking.net) : marking.net;
  if (written.hash === net.hash || !hasFormerNames(net)) return record;
  return new Renaming(net.formerNames).record(record);
}

function renameBase(record: Trimmed, net: NamedNet): JournalRecord {
  if (record.marking.net.hash === net.hash || !hasFormerNames(net)) return record;
  const base = decodeMarking(record.marking);
  renameMarking(base, net);
  return { ...record, marking: encodeMarking(base) };
}

class Renaming {
  readonly #former: FormerNames;

  constructor(former: FormerNames) {
    this.#former = former;
  }

  record(record: Exclude<JournalRecord, Trimmed>): JournalRecord {
    switch (record.kind) {
      case 'injected':
        return {
          ...record,
          give: record.give.map((deposit) => this.#deposit(deposit)),
          ...omitUndefined({ net: this.#version(record.net) }),
        };
      case 'fired':
        return { ...record, ...this.#firing(record), ...this.#outputs(record) };
      case 'started':
        return {
          ...record,
          ...this.#firing(record),
          ...omitUndefined({ pin: this.#pin(record.pin) }),
        };
      case 'ended':
        return { ...record, t: this.#transition(record.t), ...this.#outputs(record) };
      case 'faulted':
        return { ...record, ...this.#firing(record) };
      case 'retrying':
      case 'restarted':
      case 'discarded':
        return { ...record, t: this.#transition(record.t) };
      case 'upgraded':
        return this.#upgrade(record);
      case 'loaded':
        return { ...record, place: this.#place(record.place) };
      case 'owned':
        return record;
      default:
        return record satisfies never;
    }
  }

  #place(name: string): string {
    return currentPlaceName(this.#former, name);
  }

  #transition(name: string): string {
    return currentTransitionName(this.#former, name);
  }

  #version<V extends NetVersion | undefined>(version: V): V | NetVersion {
    return version === undefined ? version : renameVersions(version, this.#former);
  }

  #firing({
    t,
    take,
    reset,
  }: {
    readonly t: string;
    readonly take?: readonly TokenRemoval[];
    readonly reset?: readonly TokenRemoval[];
  }): {
    readonly t: string;
    readonly take?: readonly TokenRemoval[];
    readonly reset?: readonly TokenRemoval[];
  } {
    return {
      t: this.#transition(t),
      ...omitUndefined({ take: this.#removals(take), reset: this.#removals(reset) }),
    };
  }

  #removals(removals: readonly TokenRemoval[] | undefined): readonly TokenRemoval[] | undefined {
    return removals?.map(([place, ...ids]) => [this.#place(place), ...ids]);
  }

  #outputs({ give, lists, maps }: RecordOutputs): RecordOutputs {
    return omitUndefined({
      give: give?.map((deposit) => this.#deposit(deposit)),
      lists: lists?.map((change) => ({ ...change, place: this.#place(change.place) })),
      maps: maps?.map((change) => ({ ...change, place: this.#place(change.place) })),
    });
  }

  #deposit([place, value, more]: Deposit): Deposit {
    const name = this.#place(place);
    const renamed = this.#value(name, value);
    if (more === undefined) return [name, renamed];
    const due = more.due === undefined ? undefined : renameDue(more.due, this.#former);
    return [name, renamed, { ...more, ...omitUndefined({ due }) }];
  }

  #value(place: string, value: Json): Json {
    const isFault = place === faultPlace.name || place === unhandledFaultPlace.name;
    return isFault && isJsonObject(value) ? renameFault(value, this.#former) : value;
  }

  #pin(pin: Pin | undefined): Pin | undefined {
    if (pin === undefined) return undefined;
    const { tokens, lists, maps } = pin;
    return omitUndefined({
      tokens: this.#removals(tokens),
      lists: lists === undefined ? undefined : renameKeys(lists, (place) => this.#place(place)),
      maps: maps?.map((place) => this.#place(place)),
    });
  }

  #upgrade(record: Extract<JournalRecord, { kind: 'upgraded' }>): JournalRecord {
    const { moved, clocks, give } = record;
    return {
      ...record,
      to: renameVersions(record.to, this.#former),
      ...omitUndefined({
        moved: moved === undefined ? undefined : this.#moves(moved),
        clocks:
          clocks === undefined
            ? undefined
            : Object.fromEntries(
                Object.entries(clocks).map(([id, due]) => [id, renameDue(due, this.#former)]),
              ),
        give: give?.map((deposit) => this.#deposit(deposit)),
      }),
    };
  }

  /** A place that only gets its current name does not move. */
  #moves(moved: Readonly<Record<string, string | null>>): Readonly<Record<string, string | null>> {
    return Object.fromEntries(
      Object.entries(moved)
        .map(([from, to]) => [this.#place(from), to === null ? null : this.#place(to)] as const)
        .filter(([from, to]) => from !== to),
    );
  }
}
