import type { Clock } from '../../net/index.ts';
import { FileObjectStore } from './file-object-store.ts';
import { ObjectArtifactService } from './object-artifact-service.ts';

/**
 * Stores artifacts in a folder. The folder is created by the first save. `save` resolves when the
 * version is on the disk. Several processes may share the folder.
 */
export class FileArtifactService extends ObjectArtifactService {
  constructor({ rootDir, clock }: { readonly rootDir: string; readonly clock?: Clock }) {
    super(new FileObjectStore(rootDir), clock);
  }
}
