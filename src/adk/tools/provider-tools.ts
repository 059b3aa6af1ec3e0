import { providerTool } from '../../tools/index.ts';
import type { ProviderToolDefinition, Tool } from '../../tools/index.ts';
import type { CompilableTool } from './compile-context.ts';

/** A tool that the provider of the model runs, as a class of ADK. */
abstract class ProviderTool implements CompilableTool {
  readonly name: string;
  readonly #tool: Tool;

  constructor(definition: ProviderToolDefinition) {
    this.#tool = providerTool(definition);
    this.name = this.#tool.name;
  }

  async compileTool(): Promise<Tool> {
    return this.#tool;
  }
}

/** Gemini searches the web with Google, and names its sources in `groundingMetadata`. */
export class GoogleSearchTool extends ProviderTool {
  constructor() {
    super({ id: 'google.google_search' });
  }
}

/** Gemini reads the pages whose addresses are in the conversation. */
export class UrlContextTool extends ProviderTool {
  constructor() {
    super({ id: 'google.url_context' });
  }
}

/** Gemini bases its answers on Google Maps. */
export class GoogleMapsGroundingTool extends ProviderTool {
  constructor() {
    super({ id: 'google.google_maps' });
  }
}

/** Gemini searches the web for enterprises. Vertex AI offers it. */
export class EnterpriseWebSearchTool extends ProviderTool {
  constructor() {
    super({ id: 'google.enterprise_web_search' });
  }
}

/** As the `codeExecutor` of an agent: Gemini runs the programs that it writes. */
export class BuiltInCodeExecutor {
  readonly kind = 'gemini' as const;
}

/** The tool `google_search`. */
export const GOOGLE_SEARCH: GoogleSearchTool = new GoogleSearchTool();
/** The tool `url_context`. */
export const URL_CONTEXT: UrlContextTool = new UrlContextTool();
/** The tool `google_maps`. */
export const GOOGLE_MAPS_GROUNDING: GoogleMapsGroundingTool = new GoogleMapsGroundingTool();
/** The tool `enterprise_web_search`. */
export const ENTERPRISE_WEB_SEARCH: EnterpriseWebSearchTool = new EnterpriseWebSearchTool();
