import { toMapKey } from '../encoding/map-key.ts';
import { toImportedInit, type ItemWriter } from '../copies/write-items.ts';
import { checkConsumed, checkNumbering } from '../rules/step-rules.ts';
import type { SessionItem, StoreItem } from '../store-item.ts';
import type { MemoryDocuments } from './memory-documents.ts';
import type { MemorySession } from './memory-session.ts';
import type { MemorySessions } from './memory-sessions.ts';
import type { MemorySharedState } from './memory-shared-state.ts';
import type { MemoryUsage } from './memory-usage.ts';

/** What a memory store holds. */
export interface MemoryContent {
  readonly sessions: MemorySessions;
  readonly documents: MemoryDocuments;
  readonly shared: MemorySharedState;
  readonly usage: MemoryUsage;
}

/** The items of a session. */
export function toSessionItems(session: MemorySession): readonly StoreItem[] {
  const { key, uid, agent, failures, createdAt, head, lastSeq, summary } = session;
  const unread = new Map(session.inbox.map(({ inputSeq, input }) => [inputSeq, input] as const));
  const item: SessionItem = {
    type: 'session',
    ...summary,
    key,
    uid,
    agent,
    head,
    lastSeq,
    failures,
    createdAt,
    inboxUpTo: (session.inbox[0]?.inputSeq ?? session.lastInput + 1) - 1,
  };
  const inputs = session.inputKeys.all.map((dedupeKey, index): StoreItem => {
    const inputSeq = index + 1;
    const input = unread.get(inputSeq);
    const read = { type: 'input', inputSeq, dedupeKey } as const;
    return input === undefined ? read : { ...read, input };
  });
  const snapshots: readonly StoreItem[] =
    session.snapshot === undefined ? [] : [{ type: 'snapshot', ...session.snapshot }];
  const steps = Array.from({ length: head }, (_, index): StoreItem => {
    const step = session.journal.step(index);
    if (step === undefined) throw new Error(`step ${index + 1} is missing`);
    return { type: 'step', ...step };
  });
  return [item, ...inputs, ...snapshots, ...steps];
}

/** What is to be added to a memory store when all of it has been read. */
export class MemoryImport {
  readonly sessions: MemorySession[] = [];
  readonly #changes: (() => void)[] = [];
  readonly #content: MemoryContent;

  constructor(content: MemoryContent) {
    this.#content = content;
  }

  /** Adds everything but the sessions. */
  apply(): void {
    for (const change of this.#changes) change();
  }

  createWriter(): ItemWriter {
    const { sessions, documents, shared, usage } = this.#content;
    const find = (name: string): MemorySession | undefined =>
      this.sessions.findLast(({ key }) => toMapKey(key) === name);
    const get = ({ key }: Pick<SessionItem, 'key'>): MemorySession =>
      find(toMapKey(key)) ?? sessions.get(key);
    const add = (change: () => void): void => void this.#changes.push(change);
    return {
      location: 'memory:',
      isEmpty: async () =>
        sessions.isEmpty() && documents.isEmpty() && shared.isEmpty() && usage.isEmpty(),
      createSession: async (item) => {
        const { key } = item;
        if (sessions.find(key) !== undefined || find(toMapKey(key)) !== undefined) return false;
        this.sessions.push(sessions.create(Object.freeze({ ...key }), toImportedInit(item)));
        return true;
      },
      isUidOfOther: async ({ key, uid }) => {
        const name = toMapKey(key);
        return [...sessions.all(), ...this.sessions, ...sessions.tombstones].some(
          (one) => one.uid === uid && toMapKey(one.key) !== name,
        );
      },
      addInput: async (item, { dedupeKey, input }) => {
        get(item).appendInput(input ?? { place: '', value: null }, dedupeKey);
      },
      commit: async (steps) =>
        steps.map((step) => {
          const session = get(step);
          checkNumbering(step, session);
          checkConsumed(step, session.lastInput);
          session.append(step);
          return { ok: true };
        }),
      releaseSession: async (item) => {
        const session = get(item);
        session.owner = null;
        session.epoch++;
        session.failures = item.failures;
      },
      addDocument: async ({ type: _type, ...document }) => add(() => documents.put(document)),
      addShared: async (item) => add(() => shared.put(item)),
      addTombstone: async ({ key, uid }) => add(() => sessions.bury({ key, uid })),
      addUsage: async ({ type: _type, appName, userId, agent, ...one }) =>
        add(() => usage.add({ appName, userId, sessionId: '' }, agent, [one])),
    };
  }
}
