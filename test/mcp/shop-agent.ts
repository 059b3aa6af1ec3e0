import { agent, type Agent } from '../../src/agents/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { openMcpToolset, type McpToolset } from '../../src/tools/mcp/index.ts';

/** An agent that orders a shirt at the elicitation server and repeats its response. */
export async function openShop(url: string): Promise<{ agent: Agent; set: McpToolset }> {
  const set = await openMcpToolset({ name: 'shop', url, autoApprove: ['order'] });
  const shop = agent({
    name: 'shop',
    tools: [set],
    model: new ScriptedModel(({ contents }) =>
      contents.at(-1)?.role === 'user'
        ? { toolCalls: [{ name: 'order', args: { what: 'shirt' } }] }
        : { text: 'Done.' },
    ),
  });
  return { agent: shop, set };
}
