import type { ProtocolDriver } from '../driver.ts';
import { a2aDrivers } from './a2a-driver.ts';
import { adkDriver } from './adk-driver.ts';
import { agUiDriver } from './ag-ui-driver.ts';
import { aiSdkDrivers } from './ai-sdk-driver.ts';
import { mcpDrivers } from './mcp-driver.ts';
import { openAiChatDriver, openAiDriver } from './openai-driver.ts';

/** The stock clients that play the scenarios. */
export const ALL_DRIVERS: readonly ProtocolDriver[] = [
  agUiDriver,
  ...aiSdkDrivers,
  ...a2aDrivers,
  ...mcpDrivers,
  openAiDriver,
  openAiChatDriver,
  adkDriver,
];
