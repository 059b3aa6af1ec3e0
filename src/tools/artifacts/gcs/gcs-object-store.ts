import { undefinedIfMissing } from '../undefined-if-missing.ts';
import type { Bucket, GetFilesOptions, GetFilesResponse } from '@google-cloud/storage';
import type { ObjectStore, StoredObject } from '../object-store.ts';

const ABOUT = 'petrichor';

/** Stores objects in a Google Cloud Storage bucket. */
export class GcsObjectStore implements ObjectStore {
  readonly #open: () => Promise<Bucket>;
  /** Prefix of every path: empty, or ending in `/`. */
  readonly #prefix: string;

  constructor(open: () => Promise<Bucket>, prefix: string, uri: (path: string) => string) {
    this.#open = open;
    this.#prefix = prefix;
    this.getUri = uri;
  }

  readonly getUri: (path: string) => string;

  async create(path: string, { bytes, contentType, about }: StoredObject): Promise<boolean> {
    const file = (await this.#open()).file(`${this.#prefix}${path}`);
    try {
      await file.save(Buffer.from(bytes), {
        resumable: false,
        preconditionOpts: { ifGenerationMatch: 0 },
        metadata: {
          contentType,
          metadata: { [ABOUT]: Buffer.from(about).toString('base64url') },
        },
      });
      return true;
    } catch (error) {
      if (isCode(error, 412)) return false;
      throw error;
    }
  }

  async read(path: string): Promise<StoredObject | undefined> {
    const file = (await this.#open()).file(`${this.#prefix}${path}`);
    return undefinedIfMissing(async () => {
      const [metadata] = await file.getMetadata();
      const [bytes] = await file.download();
      return {
        bytes,
        contentType: metadata.contentType ?? '',
        about: decodeAbout(metadata.metadata),
      };
    }, isMissing);
  }

  async about(path: string): Promise<string | undefined> {
    const file = (await this.#open()).file(`${this.#prefix}${path}`);
    return undefinedIfMissing(async () => {
      const [metadata] = await file.getMetadata();
      return decodeAbout(metadata.metadata);
    }, isMissing);
  }

  async list(folder: string): Promise<readonly string[]> {
    const bucket = await this.#open();
    const under = folder === '' ? this.#prefix : `${this.#prefix}${folder}/`;
    const names: string[] = [];
    for (let pageToken: string | undefined; ;) {
      const query: GetFilesOptions = { prefix: under, delimiter: '/', autoPaginate: false };
      const [files, next, answer]: GetFilesResponse = await bucket.getFiles(
        pageToken === undefined ? query : { ...query, pageToken },
      );
      for (const { name } of files) names.push(name.slice(under.length));
      for (const prefix of getPrefixes(answer)) names.push(prefix.slice(under.length, -1));
      pageToken = next?.pageToken;
      if (pageToken === undefined) break;
    }
    return names.filter((name) => name !== '');
  }

  async countBytes(folder: string): Promise<number> {
    const bucket = await this.#open();
    const [files] = await bucket.getFiles({ prefix: `${this.#prefix}${folder}/` });
    return files.reduce((sum, { metadata }) => sum + Number(metadata.size ?? 0), 0);
  }

  async remove(folder: string): Promise<void> {
    const bucket = await this.#open();
    const [files] = await bucket.getFiles({ prefix: `${this.#prefix}${folder}/` });
    for (const file of files) await file.delete({ ignoreNotFound: true });
  }
}

function getPrefixes(answer: unknown): readonly string[] {
  if (typeof answer !== 'object' || answer === null || !('prefixes' in answer)) return [];
  const { prefixes } = answer;
  return Array.isArray(prefixes) ? prefixes.filter((prefix) => typeof prefix === 'string') : [];
}

function decodeAbout(metadata: Readonly<Record<string, unknown>> | undefined): string {
  const about = metadata?.[ABOUT];
  return typeof about === 'string' ? Buffer.from(about, 'base64url').toString('utf8') : '';
}

function isMissing(error: unknown): boolean {
  return isCode(error, 404);
}

function isCode(error: unknown, code: number): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}
