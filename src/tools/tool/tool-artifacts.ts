import { encodeJson, sha256Hex, type FiringId, type SessionKey } from '../../core/index.ts';
import type { ArtifactPart, ArtifactService } from '../artifacts/artifact-service.ts';
import { checkArtifactName } from '../artifacts/check-artifact-name.ts';
import { NoServiceError } from './no-service-error.ts';

/**
 * The artifacts of the session a tool runs in and, by names with `user:`, of its user. Every method
 * rejects with `NoServiceError` if the runtime has no artifact service.
 */
export interface ToolArtifacts {
  /**
   * Stores a new version immediately, whatever the outcome of the call, and returns its number. The
   * log records it with the result. The same content saved at the same point of the same call, run
   * again after a crash, is one version.
   * @throws InvalidInputError for an invalid name
   */
  readonly save: (name: string, part: ArtifactPart) => Promise<number>;
  /** Loads a version; `undefined` if it does not exist. Default: the newest. */
  readonly load: (name: string, version?: number) => Promise<ArtifactPart | undefined>;
  readonly list: () => Promise<readonly string[]>;
}

export interface ToolArtifactsOptions {
  readonly service: ArtifactService | undefined;
  readonly session: SessionKey;
  readonly firingId: FiringId;
  /** Called for each stored version. */
  readonly onSaved: (name: string, version: number) => void;
}

export function toolArtifacts(options: ToolArtifactsOptions): ToolArtifacts {
  const { session, firingId, onSaved } = options;
  let saves = 0;
  const service = (): ArtifactService => {
    if (options.service === undefined) throw new NoServiceError('artifacts');
    return options.service;
  };
  return {
    save: async (name, part) => {
      checkArtifactName(name);
      const saveId = `${firingId}/${saves++}/${sha256Hex(encodeJson(part, 'part'))}`;
      const version = await service().save({ session, name }, part, { saveId });
      onSaved(name, version);
      return version;
    },
    load: async (name, version) => service().load({ session, name }, version),
    list: async () => service().list(session),
  };
}
