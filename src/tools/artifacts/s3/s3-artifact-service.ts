import { importOptional } from '../../../core/internal.ts';
import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3';
import type { Clock } from '../../../net/index.ts';
import { MissingArtifactPackageError } from '../missing-artifact-package-error.ts';
import { ObjectArtifactService } from '../object-artifact-service.ts';
import { S3ObjectStore } from './s3-object-store.ts';
import type { S3Location } from './s3-object-store.ts';

/** Options of `S3ArtifactService`: the bucket, the names of its objects, and the connection. */
export interface S3ArtifactOptions {
  readonly bucketName: string;
  /** Prefix of every object name, such as `adk/`. Default: no prefix. */
  readonly prefix?: string;
  /** Options of the SDK's client: region, credentials, the endpoint of another provider. */
  readonly config?: S3ClientConfig;
  /** An existing client. `config` is then ignored. */
  readonly client?: S3Client;
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
  constructor({ bucketName: bucket, prefix = '', config, client, clock }: S3ArtifactOptions) {
    let opened: Promise<S3Location> | undefined;
    const open = async (): Promise<S3Location> => {
      const sdk = await importOptional(
        import('@aws-sdk/client-s3'),
        (cause) => new MissingArtifactPackageError('@aws-sdk/client-s3', { cause }),
      );
      return { sdk, client: client ?? new sdk.S3Client(config ?? {}), bucket, prefix };
    };
    const objects = new S3ObjectStore(
      async () => (opened ??= open()),
      (path) => `s3://${bucket}/${prefix}${path}`,
    );
    super(objects, clock);
  }
}
