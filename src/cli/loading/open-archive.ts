import { resolve } from 'node:path';
import type { S3ClientConfig } from '@aws-sdk/client-s3';
import { SessionArchive } from '../../runtime/index.ts';
import { S3ObjectStore } from '../../tools/artifacts/s3/index.ts';
import { FileObjectStore } from '../../tools/index.ts';
import type { CliContext } from '../command/cli-context.ts';
import type { TextOption } from '../command/options.ts';
import { UsageError } from '../command/usage-error.ts';

/** Selects where sessions are archived. */
export const archiveOption: TextOption = {
  type: 'string',
  value: 'PLACE',
  summary:
    'Where sessions are archived: a folder, or s3://BUCKET/PREFIX?region=R&endpoint=URL, with the credentials of the AWS SDK',
  fromEnvironment: true,
};

/** A bucket that does not answer must not hold up a server that stops. */
const CONNECT_MS = 10_000;
const SILENCE_MS = 30_000;
const ATTEMPTS = 3;

/** Opens an archive. Nothing is read or written yet. @throws UsageError for an invalid place */
export function openArchive(
  place: string,
  { cwd, env, clock }: Pick<CliContext, 'cwd' | 'env' | 'clock'>,
  command: string,
): SessionArchive {
  if (place === '') throw new UsageError('--archive must name a folder or a bucket.', command);
  if (!/^[a-z][\w+.-]+:/i.test(place))
    return new SessionArchive(new FileObjectStore(resolve(cwd, place)), { clock });
  const { bucket, prefix, config } = parseBucket(place, env, command);
  return new SessionArchive(new S3ObjectStore({ bucketName: bucket, prefix, config }), { clock });
}

/** Errors do not show the URL: it could have a password. */
function parseBucket(
  place: string,
  env: CliContext['env'],
  command: string,
): { readonly bucket: string; readonly prefix: string; readonly config: S3ClientConfig } {
  const refuse = (problem: string): never => {
    throw new UsageError(
      `--archive ${problem}. Write a folder, or s3://BUCKET/PREFIX?region=R&endpoint=URL.`,
      command,
    );
  };
  const url = URL.canParse(place) ? new URL(place) : refuse('is not a valid URL');
  if (url.protocol !== 's3:') refuse(`has the scheme "${url.protocol}", which is unknown`);
  if (url.username !== '' || url.password !== '')
    refuse('has credentials. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY instead');
  if (url.hostname === '') refuse('names no bucket');
  for (const name of url.searchParams.keys())
    if (name !== 'region' && name !== 'endpoint') refuse(`has the parameter "${name}"`);
  const endpoint = url.searchParams.get('endpoint') ?? undefined;
  if (endpoint !== undefined && !isHttpOrigin(endpoint))
    refuse('has an endpoint that is no http or https URL without credentials');
  const folder = decodeURIComponent(url.pathname).replace(/^\/+|\/+$/g, '');
  const region = url.searchParams.get('region') ?? env['AWS_REGION'] ?? env['AWS_DEFAULT_REGION'];
  return {
    bucket: url.host,
    prefix: folder === '' ? '' : `${folder}/`,
    config: {
      ...toCredentials(env),
      ...(region !== undefined && { region }),
      // Other providers than AWS have no host for each bucket.
      ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
      maxAttempts: ATTEMPTS,
      requestHandler: { connectionTimeout: CONNECT_MS, socketTimeout: SILENCE_MS },
    },
  };
}

/** Default: where the SDK finds them, for example a role of the machine. */
function toCredentials({
  AWS_ACCESS_KEY_ID: accessKeyId,
  AWS_SECRET_ACCESS_KEY: secretAccessKey,
  AWS_SESSION_TOKEN: sessionToken,
}: CliContext['env']): Pick<S3ClientConfig, 'credentials'> {
  if (accessKeyId === undefined || secretAccessKey === undefined) return {};
  return {
    credentials: {
      accessKeyId,
      secretAccessKey,
      ...(sessionToken !== undefined && { sessionToken }),
    },
  };
}

function isHttpOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}
