import { checkDefinition } from '../../../core/internal.ts';
import { optionTable } from '../../../core/index.ts';
import type { OptionTable } from '../../../core/index.ts';
import type { Clock } from '../../../net/index.ts';
import { ObjectArtifactService } from '../object-artifact-service.ts';
import { S3ObjectStore, type S3ObjectStoreOptions } from './s3-object-store.ts';

/** Options of `S3ArtifactService`: the bucket, the names of its objects, and the connection. */
export interface S3ArtifactOptions extends S3ObjectStoreOptions {
  /** Supplies the creation time of versions. Default: the system clock. */
  readonly clock?: Clock;
}

/** The options of `S3ArtifactService`. */
export const S3_ARTIFACT_OPTIONS: OptionTable = optionTable<S3ArtifactOptions>(
  'S3ArtifactService',
  {
    bucketName: true,
    prefix: true,
    config: true,
    client: true,
    clock: true,
  },
);

/**
 * Stores artifacts in a bucket of Amazon S3, or of a compatible provider that supports
 * `If-None-Match: *` on PUT. The SDK, `@aws-sdk/client-s3`, is an optional peer dependency and is
 * loaded by the first call. Methods reject with the SDK's errors, and with
 * `MissingArtifactPackageError` if the SDK is not installed.
 */
export class S3ArtifactService extends ObjectArtifactService {
  constructor(options: S3ArtifactOptions) {
    if (new.target === S3ArtifactService) checkDefinition(S3_ARTIFACT_OPTIONS, options);
    const { clock, ...rest } = options;
    super(new S3ObjectStore(rest), clock);
  }
}
