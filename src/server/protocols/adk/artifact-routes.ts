import * as v from 'valibot';
import { fromAdkContent } from '../../../adk/internal.ts';
import { isFileDataPart, isInlineDataPart, isTextPart, parseContent } from '../../../core/index.ts';
import { isJsonObject } from '../../../core/index.ts';
import type { JsonObject } from '../../../core/index.ts';
import { omitUndefined } from '../../../core/internal.ts';
import type { ArtifactKey, ArtifactPart, ArtifactService } from '../../../tools/index.ts';
import { toSessionKey } from '../../events/session-log.ts';
import { HttpError, notFound } from '../../http/http-error.ts';
import { defineRoute } from '../../routing/route.ts';
import type { HttpRoute, RouteCall } from '../../routing/route.ts';
import type { ServerContext } from '../../routing/server-context.ts';
import { metadata, nonEmptyText } from '../../wire/wire-schemas.ts';
import { adkBody } from './adk-body.ts';
import { findAdkSession } from './adk-session.ts';
import { toName } from './session-routes.ts';

const anyObject = v.custom<JsonObject>(isJsonObject, 'must be an object');
const ARTIFACTS = '/apps/{app}/users/{user}/sessions/{session_id}/artifacts';
const ARTIFACT = `${ARTIFACTS}/{name}` as const;
const VERSION = `${ARTIFACT}/versions/{version}` as const;

type Call = Pick<RouteCall<unknown, unknown>, 'caller' | 'params'>;

/** Artifacts of ADK: those of the runtime's artifact service. Without one, there are none. */
export function artifactRoutes(context: ServerContext): readonly HttpRoute[] {
  const { artifacts } = context.runtime.runtime;
  const find = async (call: Call): Promise<ArtifactKey> => {
    const { session } = await findAdkSession(context, call.caller, toName(call));
    return { session: toSessionKey(session), name: call.params('name') };
  };
  const load = async (key: ArtifactKey, version?: number): Promise<Response> => {
    const part = await artifacts?.load(key, version);
    if (part === undefined) throw notFound('artifact', key.name);
    return Response.json(part);
  };
  const listMetadata = async (key: ArtifactKey): Promise<readonly JsonObject[]> => {
    const found: JsonObject[] = [];
    for (const version of (await artifacts?.versions(key)) ?? [])
      found.push(await describe(artifacts, key, version));
    return found;
  };
  return [
    defineRoute(`GET ${ARTIFACTS}: List the artifacts of a session (ADK)`, {
      response: v.array(v.string()),
      run: async (call) => {
        const { session } = await find(call);
        return Response.json((await artifacts?.list(session)) ?? []);
      },
    }),
    defineRoute(`POST ${ARTIFACTS}: Save a version of an artifact (ADK)`, {
      body: adkBody(
        v.looseObject({
          filename: nonEmptyText(1024),
          artifact: anyObject,
          customMetadata: v.nullish(metadata),
        }),
      ),
      response: v.looseObject({ version: v.number() }),
      run: async (call) => {
        const { session } = await find(call);
        if (artifacts === undefined)
          throw new HttpError(
            501,
            'This server has no artifact service. Pass one to the runtime: its option is artifacts.',
          );
        const { filename: name, artifact, customMetadata } = call.body;
        const key = { session, name };
        const version = await artifacts.save(key, parsePart(artifact), {
          saveId: call.idempotentRequest.key,
          ...omitUndefined({ customMetadata: customMetadata ?? undefined }),
        });
        return Response.json(await describe(artifacts, key, version));
      },
    }),
    defineRoute(`GET ${ARTIFACT}: Read an artifact (ADK)`, {
      query: v.looseObject({ version: v.optional(v.string()) }),
      response: anyObject,
      run: async (call) => load(await find(call), parseVersion(call.query.version)),
    }),
    defineRoute(`GET ${ARTIFACT}/versions: List the versions of an artifact (ADK)`, {
      response: v.array(v.number()),
      run: async (call) => {
        const key = await find(call);
        return Response.json((await artifacts?.versions(key)) ?? []);
      },
    }),
    defineRoute(`GET ${ARTIFACT}/versions/metadata: Describe the versions of an artifact (ADK)`, {
      response: v.array(anyObject),
      run: async (call) => Response.json(await listMetadata(await find(call))),
    }),
    defineRoute(`GET ${VERSION}: Read a version of an artifact (ADK)`, {
      response: anyObject,
      run: async (call) => load(await find(call), parseVersion(call.params('version'))),
    }),
    defineRoute(`GET ${VERSION}/metadata: Describe a version of an artifact (ADK)`, {
      response: anyObject,
      run: async (call) =>
        describe(artifacts, await find(call), parseVersion(call.params('version'))),
    }),
    defineRoute(`DELETE ${ARTIFACT}: Remove an artifact (ADK)`, {
      response: v.null(),
      run: async (call) => {
        const key = await find(call);
        await artifacts?.delete(key);
        return null;
      },
    }),
  ];
}

/** @throws HttpError 404 */
async function describe(
  artifacts: ArtifactService | undefined,
  key: ArtifactKey,
  version: number | undefined,
): Promise<JsonObject> {
  const found = await artifacts?.describe(key, version);
  if (found === undefined) throw notFound('artifact', key.name);
  const { createdAt, mimeType, ...rest } = found;
  return { ...rest, createTime: createdAt / 1000, ...omitUndefined({ mimeType }) };
}

/** Undefined: the newest. @throws HttpError 404 */
function parseVersion(text: string | undefined): number | undefined {
  if (text === undefined || text === 'latest') return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw notFound('version', text);
}

/** @throws HttpError 400, InvalidInputError */
function parsePart(artifact: JsonObject): ArtifactPart {
  const [part] = parseContent(fromAdkContent({ parts: [artifact] }, 'artifact')).parts;
  if (part !== undefined && (isTextPart(part) || isInlineDataPart(part) || isFileDataPart(part)))
    return part;
  throw new HttpError(400, 'artifact: must be a text, inlineData or fileData.');
}
