import { InvalidInputError, optionTable } from '../../core/index.ts';
import { describeValue, checkDefinition } from '../../core/internal.ts';
import type { OptionTable } from '../../core/index.ts';
import type { Clock } from '../../net/index.ts';
import { FileObjectStore } from './file-object-store.ts';
import { ObjectArtifactService } from './object-artifact-service.ts';

/** Options of `FileArtifactService`. */
export interface FileArtifactOptions {
  /** The folder of all artifacts. */
  readonly rootDir: string;
  /** Supplies the creation time of versions. Default: the system clock. */
  readonly clock?: Clock;
}

/** The options of `FileArtifactService`. */
export const FILE_ARTIFACT_OPTIONS: OptionTable = optionTable<FileArtifactOptions>(
  'FileArtifactService',
  {
    rootDir: true,
    clock: true,
  },
);

/**
 * Stores artifacts in a folder. The folder is created by the first save. `save` resolves when the
 * version is on the disk. Several processes may share the folder.
 */
export class FileArtifactService extends ObjectArtifactService {
  /** @throws InvalidInputError if `rootDir` is not the path of a folder */
  constructor(options: FileArtifactOptions) {
    if (new.target === FileArtifactService) checkDefinition(FILE_ARTIFACT_OPTIONS, options);
    const { rootDir, clock } = options;
    if (typeof rootDir !== 'string' || rootDir === '')
      throw new InvalidInputError(
        'rootDir',
        `must be the path of a folder; it is ${describeValue(rootDir)}.`,
      );
    super(new FileObjectStore(rootDir), clock);
  }
}
