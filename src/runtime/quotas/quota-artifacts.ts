import { countPartBytes } from '../../tools/internal.ts';
import type { ArtifactService } from '../../tools/index.ts';

/**
 * Wraps an artifact service so that saves are checked first.
 * @param check throws if the user has no room for so many bytes
 */
export function withStorageQuota(
  service: ArtifactService,
  check: (user: string, bytes: number) => Promise<void>,
): ArtifactService {
  const { countBytes } = service;
  return {
    save: async (key, part, options) => {
      await check(key.session.userId, countPartBytes(part));
      return service.save(key, part, options);
    },
    load: async (key, version) => service.load(key, version),
    list: async (session) => service.list(session),
    versions: async (key) => service.versions(key),
    describe: async (key, version) => service.describe(key, version),
    delete: async (key) => service.delete(key),
    ...(countBytes !== undefined && {
      countBytes: async (owner) => service.countBytes?.(owner) ?? 0,
    }),
  };
}
