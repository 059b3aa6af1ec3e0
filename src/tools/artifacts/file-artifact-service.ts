import type { Clock } from '../../net/index.ts';
import { FileObjectStore } from './file-object-store.ts';
import { ObjectArtifactService } from './object-artifact-service.ts';

/** Artifacts in a folder, made when the first one is saved. What was saved has reached the disk. Processes may share it. */
export class FileArtifactService extends ObjectArtifactService {
  constructor({ rootDir, clock }: { readonly rootDir: string; readonly clock?: Clock }) {
    super(new FileObjectStore(rootDir), clock);
  }
}
