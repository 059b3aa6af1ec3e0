import { isDeepStrictEqual } from 'node:util';
import { formatSessionKey, parseIdentity, parseSessionKey } from '../../core/index.ts';
import { applyRecord, emptyMarking, fromSnapshot, oldestListRecord } from '../../net/index.ts';
import { encodeMarking } from '../../net/internal.ts';
import type { EncodedMarking } from '../../net/internal.ts';
import type { JournalRecord, Trimmed } from '../../net/index.ts';
import type { InputItem, SessionItem, SnapshotItem, StepItem } from '../../store/index.ts';
import { asSnapshot } from '../journal/hydrate.ts';

/**
 * Reads the journal of a session that was copied, as a runtime would: the numbers of its inputs, steps, records and events
 * have no gaps, each record applies to the marking before it, and the snapshot is the marking at its step.
 */
export class SessionCheck {
  readonly #session: SessionItem;
  readonly #marking = emptyMarking();
  readonly #listRecords: JournalRecord[] = [];
  #snapshot: SnapshotItem | undefined;
  /** The first record with items of a list that the snapshot names. */
  #listsFrom = Infinity;
  #step = 0;
  #record = 0;
  #event = 0;
  #input = 0;

  /** @throws InvalidInputError if no session can have the key or the agent */
  constructor(session: SessionItem) {
    parseSessionKey(session.key);
    parseIdentity(session.agent, 'agent');
    this.#session = session;
  }

  /** @throws Error that says what is wrong */
  add(item: InputItem | SnapshotItem | StepItem): void {
    if (item.type === 'input') this.#input = this.#next('input', this.#input, item.inputSeq);
    else if (item.type === 'step') this.#addStep(item);
    else {
      this.#snapshot = item;
      this.#listsFrom = oldestListRecord(asSnapshot(item.marking)) ?? Infinity;
    }
  }

  /** @throws Error that says what is wrong */
  finish(): void {
    const { head, lastSeq, inboxUpTo } = this.#session;
    const hasAll = this.#step === head && this.#event === lastSeq && this.#input >= inboxUpTo;
    if (!hasAll)
      this.#fail(
        `has ${this.#step} steps, ${this.#event} events and ${this.#input} inputs, and not ${head}, ${lastSeq} and ${inboxUpTo}`,
      );
    if (this.#snapshot !== undefined) this.#fail('has a snapshot of a step that it does not have');
  }

  #addStep({ step, records, events }: StepItem): void {
    this.#step = this.#next('step', this.#step, step);
    for (const record of records) {
      this.#record =
        record.kind === 'trimmed'
          ? this.#begin(record)
          : this.#next('record', this.#record, record.seq);
      this.#apply(record);
    }
    for (const { seq } of events) this.#event = this.#next('event', this.#event, seq);
    if (this.#snapshot?.step === step) this.#checkSnapshot(this.#snapshot);
  }

  /** Checks the marking with which a trimmed journal begins, as far as no later record or snapshot does. */
  #begin({ seq, marking }: Trimmed): number {
    if (this.#record !== 0) this.#fail(`has a base, record ${seq}, after record ${this.#record}`);
    const wrong = findWrongPart(marking);
    if (wrong !== undefined) this.#fail(`begins with a base, record ${seq}, with a wrong ${wrong}`);
    return seq;
  }

  #apply(record: JournalRecord): void {
    if (this.#snapshot !== undefined && record.seq >= this.#listsFrom)
      this.#listRecords.push(record);
    try {
      applyRecord(this.#marking, record);
    } catch (error) {
      this.#fail(`cannot be replayed at record ${record.seq}`, error);
    }
  }

  #checkSnapshot({ marking, step }: SnapshotItem): void {
    const restored = fromSnapshot(asSnapshot(marking), this.#listRecords);
    if (!isDeepStrictEqual(encodeMarking(restored), encodeMarking(this.#marking)))
      this.#fail(`has a snapshot that is not the marking after step ${step}`);
    this.#snapshot = undefined;
    this.#listRecords.length = 0;
  }

  #next(part: string, last: number, number: number): number {
    if (number !== last + 1) this.#fail(`has ${part} ${number} after ${part} ${last}`);
    return number;
  }

  #fail(problem: string, cause?: unknown): never {
    throw new Error(`session "${formatSessionKey(this.#session.key)}" ${problem}`, { cause });
  }
}

const TOKEN_ID = /^[1-9]\d*\.(?:0|[1-9]\d*)$/;

/**
 * A token or list item of a record that the marking cannot know, a second token of one id, or a firing: a journal is
 * trimmed where no effect runs. Undefined: there is none.
 */
function findWrongPart({ seq, tokens, firings, lists }: EncodedMarking): string | undefined {
  const isKnown = (record: number): boolean =>
    Number.isSafeInteger(record) && record >= 1 && record <= seq;
  const ids = new Set<string>();
  for (const [id] of Object.values(tokens).flat()) {
    if (ids.has(id) || !TOKEN_ID.test(id) || !isKnown(Number.parseInt(id, 10)))
      return `token ${id}`;
    ids.add(id);
  }
  const [firing] = firings;
  if (firing !== undefined) return `firing ${firing.firing}`;
  const list = Object.entries(lists).find(
    ([, { version, items, origins }]) =>
      !Number.isSafeInteger(version) ||
      version < 0 ||
      items.length !== origins.length ||
      !origins.every(isKnown),
  );
  return list && `list ${list[0]}`;
}
