import type { SessionKey } from '../../core/index.ts';
import type { DocumentItem, InputItem, TombstoneItem } from '../store-item.ts';
import type { FullRow } from './session-row.ts';
import type { SharedRow } from './shared-values.ts';
import type { SessionUsage } from './usage-groups.ts';

/** The statements that only exports and imports need. */
export interface ItemStatements<R, W extends R> {
  /** Reads rows of sessions with an id above `after`, in the order of their ids. */
  listSessionPage(queries: R, after: FullRow['id'], limit: number): Promise<readonly FullRow[]>;
  /** Reads the dedupe keys of all inputs of a session after `after`, in the order of the inputs. */
  listInputKeys(
    queries: R,
    id: FullRow['id'],
    after: number,
    limit: number,
  ): Promise<readonly Pick<InputItem, 'inputSeq' | 'dedupeKey'>[]>;
  listDocumentKinds(queries: R): Promise<readonly string[]>;
  listSharedRows(queries: R): Promise<readonly SharedRow[]>;
  listTombstones(
    queries: R,
  ): Promise<readonly { readonly key: SessionKey; readonly uid: string }[]>;
  /** True if a session or a tombstone of another key has this uid. Reads all rows. */
  isUidOfOther(queries: R, session: Pick<TombstoneItem, 'key' | 'uid'>): Promise<boolean>;
  /** The apps with usage. */
  listUsageApps(queries: R): Promise<readonly string[]>;
  /** Inserts a document with its version. */
  insertDocument(queries: W, document: DocumentItem): Promise<void>;
  /** Adds the usage of groups. */
  addUsage(queries: W, groups: readonly SessionUsage[]): Promise<void>;
  /** Inserts a tombstone that is no change. */
  insertTombstone(queries: W, tombstone: TombstoneItem): Promise<void>;
  /** Waits if the database has too many writes of this transaction before it. @throws the error of one of them */
  limitPending(queries: W): Promise<void>;
}
