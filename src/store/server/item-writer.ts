import type { SessionKey } from '../../core/index.ts';
import { toImportedInit, type ItemWriter } from '../copies/write-items.ts';
import { toMapKey } from '../encoding/map-key.ts';
import { commitSteps } from './commit-steps.ts';
import { packStep } from './packed-step.ts';
import { lockSession, type ServerTables } from './server-tables.ts';
import type { FullRow } from './session-row.ts';

/** Creates a writer of items in the open transaction. */
export function createItemWriter<R, W extends R>(
  queries: W,
  tables: ServerTables<R, W>,
  location: string,
): ItemWriter {
  const ids = new Map<string, FullRow['id']>();
  const findId = async (key: SessionKey): Promise<FullRow['id']> =>
    ids.get(toMapKey(key)) ?? (await lockSession(tables, queries, key)).id;
  return {
    location,
    isEmpty: async () => {
      const found = [
        await tables.listSessionPage(queries, 0, 1),
        await tables.listDocumentKinds(queries),
        await tables.listSharedRows(queries),
        await tables.listTombstones(queries),
        await tables.listUsageApps(queries),
      ];
      return found.every((rows) => rows.length === 0);
    },
    createSession: async (item) => {
      const { key } = item;
      if ((await tables.findSession(queries, key)) !== undefined) return false;
      const row = await tables.insertSession(queries, key, toImportedInit(item));
      if (row === undefined) return false;
      // One session is written after the other.
      ids.clear();
      ids.set(toMapKey(key), row.id);
      return true;
    },
    isUidOfOther: async (item) => tables.isUidOfOther(queries, item),
    addInput: async ({ key }, { inputSeq, dedupeKey, input }) => {
      await tables.insertInput(queries, await findId(key), {
        inputSeq,
        dedupeKey,
        place: input?.place ?? '',
        value: JSON.stringify(input?.value ?? null),
      });
      await tables.limitPending(queries);
    },
    commit: async (steps) => commitSteps(queries, tables, steps.map(packStep)),
    releaseSession: async ({ key, failures }) => {
      const id = await findId(key);
      await tables.setOwner(queries, id, null);
      if (failures > 0) await tables.setFailures(queries, id, failures);
    },
    addDocument: async (document) => {
      await tables.insertDocument(queries, document);
      await tables.limitPending(queries);
    },
    addShared: async ({ appName: app, userId, name, version, value }) => {
      const text = value === undefined ? null : JSON.stringify(value);
      await tables.writeShared(queries, [{ app, user_id: userId, name, version, value: text }]);
      await tables.limitPending(queries);
    },
    addTombstone: async (tombstone) => {
      await tables.insertTombstone(queries, tombstone);
      await tables.limitPending(queries);
    },
    addUsage: async ({ type: _type, appName, userId, agent, ...usage }) => {
      const key = { appName, userId, sessionId: '' };
      await tables.addUsage(queries, [{ key, agent, usage }]);
      await tables.limitPending(queries);
    },
  };
}
