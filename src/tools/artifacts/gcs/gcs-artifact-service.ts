import { optionTable } from '../../../core/index.ts';
import type { OptionTable } from '../../../core/index.ts';
import { importOptional, checkDefinition } from '../../../core/internal.ts';
import type { Bucket, Storage, StorageOptions } from '@google-cloud/storage';
import type { Clock } from '../../../net/index.ts';
import { MissingArtifactPackageError } from '../missing-artifact-package-error.ts';
import { ObjectArtifactService } from '../object-artifact-service.ts';
import { GcsObjectStore } from './gcs-object-store.ts';

/** Options of `GcsArtifactService`: the bucket, the names of its objects, and the connection. */
export interface GcsArtifactOptions {
  readonly bucketName: string;
  /** Prefix of every object name, such as `adk/`. Default: no prefix. */
  readonly prefix?: string;
  /** Options of the SDK's client: project, credentials, endpoint. */
  readonly config?: StorageOptions;
  /** An existing client. `config` is then ignored. */
  readonly storage?: Storage;
  /** Supplies the creation time of versions. Default: the system clock. */
  readonly clock?: Clock;
}

/** The options of `GcsArtifactService`. */
export const GCS_ARTIFACT_OPTIONS: OptionTable = optionTable<GcsArtifactOptions>(
  'GcsArtifactService',
  {
    bucketName: true,
    prefix: true,
    config: true,
    storage: true,
    clock: true,
  },
);

/**
 * Stores artifacts in a Google Cloud Storage bucket. The SDK, `@google-cloud/storage`, is an
 * optional peer dependency and is loaded by the first call. Methods reject with the SDK's errors,
 * and with `MissingArtifactPackageError` if the SDK is not installed.
 */
export class GcsArtifactService extends ObjectArtifactService {
  constructor(options: GcsArtifactOptions) {
    if (new.target === GcsArtifactService) checkDefinition(GCS_ARTIFACT_OPTIONS, options);
    const { bucketName, prefix = '', config, storage, clock } = options;
    let opened: Promise<Bucket> | undefined;
    const open = async (): Promise<Bucket> => {
      const sdk = await importOptional(
        import('@google-cloud/storage'),
        (cause) => new MissingArtifactPackageError('@google-cloud/storage', { cause }),
      );
      return (storage ?? new sdk.Storage(config ?? {})).bucket(bucketName);
    };
    const objects = new GcsObjectStore(
      async () => (opened ??= open()),
      prefix,
      (path) => `gs://${bucketName}/${prefix}${path}`,
    );
    super(objects, clock);
  }
}
