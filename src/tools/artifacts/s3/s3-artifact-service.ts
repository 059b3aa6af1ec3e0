import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3';
import type { Clock } from '../../../net/index.ts';
import { loadArtifactPackage } from '../load-artifact-package.ts';
import { ObjectArtifactService } from '../object-artifact-service.ts';
import { S3ObjectStore } from './s3-object-store.ts';
import type { S3Location } from './s3-object-store.ts';

/** Which bucket holds the artifacts, under which names, and how it is reached. */
export interface S3ArtifactOptions {
  readonly bucketName: string;
  /** Before the name of every object, such as `adk/`; nothing unless given. */
  readonly prefix?: string;
  /** How the SDK reaches the bucket: region, credentials, an endpoint of another provider. */
  readonly config?: S3ClientConfig;
  /** A client that is there already, in place of `config`. */
  readonly client?: S3Client;
  /** Says when a version was saved; the system's unless given. */
  readonly clock?: Clock;
}

/**
 * Artifacts in a bucket of Amazon S3, or of another provider that heeds `If-None-Match: *` on PUT, through the SDK
 * `@aws-sdk/client-s3`, loaded with the first call. Its methods reject with what the SDK throws, and with
 * MissingArtifactPackageError where it is not installed.
 */
export class S3ArtifactService extends ObjectArtifactService {
  constructor({ bucketName: bucket, prefix = '', config, client, clock }: S3ArtifactOptions) {
    let opened: Promise<S3Location> | undefined;
    const open = async (): Promise<S3Location> => {
      const sdk = await loadArtifactPackage('@aws-sdk/client-s3', import('@aws-sdk/client-s3'));
      return { sdk, client: client ?? new sdk.S3Client(config ?? {}), bucket, prefix };
    };
    const objects = new S3ObjectStore(
      async () => (opened ??= open()),
      (path) => `s3://${bucket}/${prefix}${path}`,
    );
    super(objects, clock);
  }
}
