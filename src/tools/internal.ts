/** Exports of `tools/` for other folders of `src/`, without the toolsets and services. */

export { countPartBytes } from './artifacts/artifact-service.ts';
export {
  decodePathSegment,
  encodePathSegment,
  isHashedSegment,
} from './artifacts/encode-path-segment.ts';
export { createJsonSchemaParser } from './schema/json-schema-parser.ts';
export { createOutputSchema } from './schema/output-schema.ts';
export { LOAD_ARTIFACTS } from './session-tools/load-artifacts-tool.ts';
export { StateBuffer, toToolState } from './state/state-buffer.ts';
export { checkClientTools, withClientDeclarations, withClientTools } from './tool/client-tool.ts';
export { callFingerprint } from './tool/call-fingerprint.ts';
export { indexTools } from './tool/index-tools.ts';
export { LiveTools } from './tool/live-tools.ts';
export { NoServiceError } from './tool/no-service-error.ts';
export { Pending, pending } from './tool/pending.ts';
export { TRANSFER_TOOL } from './tool/reserved-tool-names.ts';
export { createActions } from './tool/tool-actions.ts';
export { toolArtifacts } from './tool/tool-artifacts.ts';
export { openToolContext } from './tool/tool-context.ts';
export { ToolFailedError } from './tool/tool-failed-error.ts';
export { toolMemory } from './tool/tool-memory.ts';
export { failedToolResponse, toToolResponse, toolError } from './tool/tool-response.ts';
export { tool, TOOL_OPTIONS } from './tool/tool.ts';
export {
  DEFAULT_MAX_RESULT_CHARACTERS,
  checkMaxResultCharacters,
  jsonSize,
  truncateResponse,
  type ResultLimit,
} from './tool/truncate-response.ts';
