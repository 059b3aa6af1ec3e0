import type { SessionKey } from '../../core/index.ts';
import type { ArtifactService } from '../../tools/index.ts';

/** The beginning of the names of recordings. */
export const LIVE_RECORDING_PREFIX = 'adk_live_audio_storage_';

/** Which recordings are deleted. */
export interface DeleteLiveRecordingsOptions {
  readonly artifactService: ArtifactService;
  readonly session: SessionKey;
  /** Only recordings that were saved before this time, in milliseconds since 1970. Default: all. */
  readonly before?: number;
}

/**
 * Deletes recordings that `saveLiveBlob` has saved in a session. The events of the session keep their names.
 * @returns the names of the deleted artifacts
 * @throws errors of the artifact service
 * @example
 * // Recordings are kept for 30 days.
 * await deleteLiveRecordings({ artifactService, session, before: Date.now() - 30 * 86_400_000 });
 */
export async function deleteLiveRecordings({
  artifactService,
  session,
  before = Infinity,
}: DeleteLiveRecordingsOptions): Promise<readonly string[]> {
  const deleted: string[] = [];
  for (const name of await artifactService.list(session)) {
    if (!name.startsWith(LIVE_RECORDING_PREFIX)) continue;
    const version = await artifactService.describe({ session, name });
    if (version === undefined || version.createdAt >= before) continue;
    await artifactService.delete({ session, name });
    deleted.push(name);
  }
  return deleted;
}
