import type { Clock } from '../../../net/index.ts';
import { ObjectArtifactService } from '../object-artifact-service.ts';
import { S3ObjectStore, type S3ObjectStoreOptions } from './s3-object-store.ts';

/** Options of `S3ArtifactService`: the bucket, the names of its objects, and the connection. */
export interface S3ArtifactOptions extends S3ObjectStoreOptions {
  /** Supplies the creation time of versions. Default: the system clock. */
  readonly clock?: Clock;
}

/**
 * Stores artifacts in a bucket of Amazon S3, or of a compatible provider that supports
 * `If-None-Match: *` on PUT. The SDK, `@aws-sdk/client-s3`, is an optional peer dependency and is
 * loaded by the first call. Methods reject with the SDK's errors, and with
 * `MissingArtifactPackageError` if the SDK is not installed.
 */
export class S3ArtifactService extends ObjectArtifactService {
  constructor({ clock, ...options }: S3ArtifactOptions) {
    super(new S3ObjectStore(options), clock);
  }
}
