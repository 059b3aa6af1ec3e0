import { rootSessionId } from '../core/index.ts';
import type { SessionKey } from '../core/index.ts';
import type { ArtifactKey, ArtifactService } from '../tools/index.ts';

/** The same artifacts, where those of a called agent's session are those of the session that was sent the message. */
export function artifactsOfRoot(service: ArtifactService): ArtifactService {
  const rootOf = (session: SessionKey): SessionKey => ({
    ...session,
    sessionId: rootSessionId(session.sessionId),
  });
  const at = (key: ArtifactKey): ArtifactKey => ({ ...key, session: rootOf(key.session) });
  return {
    save: async (key, part, options) => service.save(at(key), part, options),
    load: async (key, version) => service.load(at(key), version),
    list: async (session) => service.list(rootOf(session)),
    versions: async (key) => service.versions(at(key)),
    describe: async (key, version) => service.describe(at(key), version),
    delete: async (key) => service.delete(at(key)),
  };
}
