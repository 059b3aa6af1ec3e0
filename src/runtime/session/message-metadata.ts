import type { MessageMetadata } from '../../agents/index.ts';
import { decodeJson, encodeJson, InvalidInputError, isJsonObject } from '../../core/index.ts';
import type { JsonObject } from '../../core/index.ts';
import type { ClientTool } from '../../tools/index.ts';
import { checkClientTools } from '../../tools/internal.ts';
import { describeValue, omitUndefined } from '../../core/internal.ts';

/**
 * Checks the metadata of a message and copies it, so that a later change by the caller does not affect it. Undefined if
 * there is none.
 * @throws InvalidToolError, DuplicateToolError, UnknownFieldError for `clientTools`
 * @throws InvalidInputError for `runConfig` or `metadata` that is not an object, and for `maxLlmCalls` that is no number
 * @throws NotSerializableError for a value that is not JSON
 */
export function toMessageMetadata({
  runConfig,
  traceContext,
  requestedOutput,
  clientTools,
  custom,
}: MessageMetadata): MessageMetadata | undefined {
  const metadata = omitUndefined({
    runConfig: copyRunConfig(runConfig),
    traceContext: copyObject(traceContext, 'traceContext'),
    requestedOutput,
    clientTools: copyClientTools(clientTools),
    custom: copyObject(custom, 'metadata'),
  });
  return Object.keys(metadata).length === 0 ? undefined : metadata;
}

/** A limit that is not a number would limit nothing. @throws InvalidInputError, NotSerializableError */
function copyRunConfig(value: unknown): JsonObject | undefined {
  const runConfig = copyObject(value, 'runConfig');
  const maxLlmCalls = runConfig?.['maxLlmCalls'];
  if (maxLlmCalls === undefined || Number.isInteger(maxLlmCalls)) return runConfig;
  throw new InvalidInputError(
    'runConfig.maxLlmCalls',
    `must be a whole number, or 0 for no limit; it is ${describeValue(maxLlmCalls)}.`,
  );
}

/** A copy of an object from outside. @throws InvalidInputError, NotSerializableError */
export function copyObject(value: unknown, field: string): JsonObject | undefined {
  if (value === undefined) return undefined;
  const copy = decodeJson(encodeJson(value, field), field);
  if (isJsonObject(copy)) return copy;
  throw new InvalidInputError(field, `must be an object; it is ${describeValue(value)}.`);
}

/** A copy of the tools of a client, as a list of JSON. */
function copyClientTools(
  tools: readonly ClientTool[] | undefined,
): readonly ClientTool[] | undefined {
  const checked = checkClientTools(tools);
  if (checked === undefined) return undefined;
  const copy = decodeJson(encodeJson(checked, 'clientTools'), 'clientTools');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON of a list that was checked
  return copy as unknown as readonly ClientTool[];
}
