import type { Bucket, Storage, StorageOptions } from '@google-cloud/storage';
import type { Clock } from '../../../net/index.ts';
import { loadArtifactPackage } from '../load-artifact-package.ts';
import { ObjectArtifactService } from '../object-artifact-service.ts';
import { GcsObjectStore } from './gcs-object-store.ts';

/** Which bucket holds the artifacts, under which names, and how it is reached. */
export interface GcsArtifactOptions {
  readonly bucketName: string;
  /** Before the name of every object, such as `adk/`; nothing unless given. */
  readonly prefix?: string;
  /** How the SDK reaches the bucket: project, credentials, an endpoint. */
  readonly config?: StorageOptions;
  /** A client that is there already, in place of `config`. */
  readonly storage?: Storage;
  /** Says when a version was saved; the system's unless given. */
  readonly clock?: Clock;
}

/**
 * Artifacts in a bucket of Google Cloud Storage, through the SDK `@google-cloud/storage`, loaded with the first call. Its
 * methods reject with what the SDK throws, and with MissingArtifactPackageError where it is not installed.
 */
export class GcsArtifactService extends ObjectArtifactService {
  constructor({ bucketName, prefix = '', config, storage, clock }: GcsArtifactOptions) {
    let opened: Promise<Bucket> | undefined;
    const open = async (): Promise<Bucket> => {
      const sdk = await loadArtifactPackage(
        '@google-cloud/storage',
        import('@google-cloud/storage'),
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
