import { rootSessionId } from '../../core/index.ts';
import type { SessionKey } from '../../core/index.ts';
import type { ArtifactKey, ArtifactService } from '../../tools/index.ts';

/** Wraps an artifact service so that a called agent's session uses the artifacts of its root session. */
export function rootSessionArtifacts(service: ArtifactService): ArtifactService {
  const toRootKey = (session: SessionKey): SessionKey => ({
    ...session,
    sessionId: rootSessionId(session.sessionId),
  });
  const toRootArtifactKey = (key: ArtifactKey): ArtifactKey => ({
    ...key,
    session: toRootKey(key.session),
  });
  return {
    save: async (key, part, options) => service.save(toRootArtifactKey(key), part, options),
    load: async (key, version) => service.load(toRootArtifactKey(key), version),
    list: async (session) => service.list(toRootKey(session)),
    versions: async (key) => service.versions(toRootArtifactKey(key)),
    describe: async (key, version) => service.describe(toRootArtifactKey(key), version),
    delete: async (key) => service.delete(toRootArtifactKey(key)),
  };
}
