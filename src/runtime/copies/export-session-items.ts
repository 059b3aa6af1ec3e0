import type { SessionKey } from '../../core/index.ts';
import type { Store } from '../../store/index.ts';
import type { ArtifactService } from '../../tools/index.ts';
import { exportArtifacts } from './artifact-item.ts';
import { JOURNAL_FILE_VERSION } from './import-session.ts';

/**
 * Reads a session and those of the agents that it called as the lines of a journal file, without the net, which only
 * readers need.
 * @param artifacts their versions follow. Default: none
 */
export async function* exportSessionItems(
  store: Store,
  session: SessionKey,
  artifacts?: ArtifactService,
): AsyncGenerator<object, void, undefined> {
  yield {
    type: 'journal',
    version: JOURNAL_FILE_VERSION,
    redacted: false,
    session: null,
    net: null,
  };
  yield* store.exportItems({ session });
  if (artifacts !== undefined) yield* exportArtifacts(artifacts, [session]);
}
