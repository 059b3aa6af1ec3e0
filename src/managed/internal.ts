/** Exports of `managed/` for other folders of `src/`. The package does not publish them. */

export { deriveAgentId, parseAgentName } from './catalogs/agent-name.ts';
export { listAgentDocuments, listSessionDocuments } from './catalogs/session-documents.ts';
export { LABELS, toLabelsId } from './catalogs/session-catalog.ts';
export { createIdGenerator } from './catalogs/sortable-id.ts';
export { ignoreMissingSession } from './interface/managed-errors.ts';
export { getToolName } from './parsing/parse-agent-def.ts';
export {
  permissionPolicy,
  toMode,
  toolRule,
  withToolRules,
  type ToolRule,
} from './parsing/permission-policy.ts';
export { toContentBlocks, toToolResult } from './projections/content-blocks.ts';
