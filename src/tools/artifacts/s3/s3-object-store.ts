import { optionTable } from '../../../core/index.ts';
import type { OptionTable } from '../../../core/index.ts';
import { importOptional, checkDefinition } from '../../../core/internal.ts';
import type * as s3 from '@aws-sdk/client-s3';
import { MissingArtifactPackageError } from '../missing-artifact-package-error.ts';
import type { ObjectStore, StoredObject } from '../object-store.ts';
import { undefinedIfMissing } from '../undefined-if-missing.ts';

/** Options of `S3ObjectStore`: the bucket, the names of its objects, and the connection. */
export interface S3ObjectStoreOptions {
  readonly bucketName: string;
  /** Prefix of every object name, such as `adk/`. Default: no prefix. */
  readonly prefix?: string;
  /** Options of the SDK's client: region, credentials, the endpoint of another provider. */
  readonly config?: s3.S3ClientConfig;
  /** An existing client. `config` is then ignored. */
  readonly client?: s3.S3Client;
}

interface S3Location {
  readonly sdk: typeof s3;
  readonly client: s3.S3Client;
  readonly bucket: string;
  readonly prefix: string;
}

const ABOUT = 'petrichor';
/** The most requests to create an object that another writer creates. */
const MAX_CREATES = 10;

/** The options of `S3ObjectStore`. */
export const S3_OBJECT_STORE_OPTIONS: OptionTable = optionTable<S3ObjectStoreOptions>(
  'S3ObjectStore',
  {
    bucketName: true,
    prefix: true,
    config: true,
    client: true,
  },
);

/**
 * Stores objects in a bucket of Amazon S3, or of a compatible provider that supports `If-None-Match: *` on PUT. The SDK,
 * `@aws-sdk/client-s3`, is an optional peer dependency and is loaded by the first call. Methods reject with the SDK's
 * errors, and with `MissingArtifactPackageError` if the SDK is not installed.
 */
export class S3ObjectStore implements ObjectStore {
  readonly #open: () => Promise<S3Location>;
  readonly #location: string;

  constructor(options: S3ObjectStoreOptions) {
    if (new.target === S3ObjectStore) checkDefinition(S3_OBJECT_STORE_OPTIONS, options);
    const { bucketName: bucket, prefix = '', config, client } = options;
    let opened: Promise<S3Location> | undefined;
    const open = async (): Promise<S3Location> => {
      const sdk = await importOptional(
        import('@aws-sdk/client-s3'),
        (cause) => new MissingArtifactPackageError('@aws-sdk/client-s3', { cause }),
      );
      return { sdk, client: client ?? new sdk.S3Client(config ?? {}), bucket, prefix };
    };
    this.#open = async () => (opened ??= open());
    this.#location = `s3://${bucket}/${prefix}`;
  }

  getUri(path: string): string {
    return `${this.#location}${path}`;
  }

  async create(path: string, object: StoredObject): Promise<boolean> {
    for (let creates = 1; ; creates++) {
      try {
        return await this.#tryCreate(path, object);
      } catch (error) {
        // A concurrent writer is creating the same object. The next attempt shows whether it
        // succeeded. A bucket can have other conflicts, which do not end.
        if (getStatus(error) !== 409 || creates === MAX_CREATES) throw error;
      }
    }
  }

  async #tryCreate(path: string, { bytes, contentType, about }: StoredObject): Promise<boolean> {
    const { sdk, client, bucket, prefix } = await this.#open();
    try {
      await client.send(
        new sdk.PutObjectCommand({
          Bucket: bucket,
          Key: `${prefix}${path}`,
          Body: bytes,
          ContentType: contentType,
          Metadata: { [ABOUT]: Buffer.from(about).toString('base64url') },
          IfNoneMatch: '*',
        }),
      );
      return true;
    } catch (error) {
      if (getStatus(error) === 412) return false;
      throw error;
    }
  }

  async read(path: string): Promise<StoredObject | undefined> {
    const { sdk, client, bucket, prefix } = await this.#open();
    return undefinedIfMissing(async () => {
      const found = await client.send(
        new sdk.GetObjectCommand({ Bucket: bucket, Key: `${prefix}${path}` }),
      );
      return {
        bytes: (await found.Body?.transformToByteArray()) ?? new Uint8Array(),
        contentType: found.ContentType ?? '',
        about: decodeAbout(found.Metadata),
      };
    }, isMissing);
  }

  async about(path: string): Promise<string | undefined> {
    const { sdk, client, bucket, prefix } = await this.#open();
    return undefinedIfMissing(async () => {
      const found = await client.send(
        new sdk.HeadObjectCommand({ Bucket: bucket, Key: `${prefix}${path}` }),
      );
      return decodeAbout(found.Metadata);
    }, isMissing);
  }

  async list(folder: string): Promise<readonly string[]> {
    const { sdk, client, bucket, prefix } = await this.#open();
    const under = folder === '' ? prefix : `${prefix}${folder}/`;
    const names: string[] = [];
    const pages = sdk.paginateListObjectsV2(
      { client },
      { Bucket: bucket, Prefix: under, Delimiter: '/' },
    );
    for await (const { Contents = [], CommonPrefixes = [] } of pages) {
      for (const { Key = '' } of Contents) names.push(Key.slice(under.length));
      for (const { Prefix = '' } of CommonPrefixes) names.push(Prefix.slice(under.length, -1));
    }
    return names.filter((name) => name !== '');
  }

  async countBytes(folder: string): Promise<number> {
    const { sdk, client, bucket, prefix } = await this.#open();
    const pages = sdk.paginateListObjectsV2(
      { client },
      { Bucket: bucket, Prefix: `${prefix}${folder}/` },
    );
    let bytes = 0;
    for await (const { Contents = [] } of pages) for (const { Size = 0 } of Contents) bytes += Size;
    return bytes;
  }

  async remove(folder: string): Promise<void> {
    const { sdk, client, bucket, prefix } = await this.#open();
    const pages = sdk.paginateListObjectsV2(
      { client },
      { Bucket: bucket, Prefix: `${prefix}${folder}/` },
    );
    for await (const { Contents = [] } of pages) {
      for (const { Key } of Contents)
        await client.send(new sdk.DeleteObjectCommand({ Bucket: bucket, Key }));
    }
  }
}

function decodeAbout(metadata: Readonly<Record<string, string>> | undefined): string {
  return Buffer.from(metadata?.[ABOUT] ?? '', 'base64url').toString('utf8');
}

function isMissing(error: unknown): boolean {
  return getStatus(error) === 404;
}

function getStatus(error: unknown): unknown {
  if (typeof error !== 'object' || error === null || !('$metadata' in error)) return undefined;
  const metadata: unknown = error.$metadata;
  return typeof metadata === 'object' && metadata !== null
    ? Reflect.get(metadata, 'httpStatusCode')
    : undefined;
}
