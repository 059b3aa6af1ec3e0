import { tool } from '../../tools/index.ts';
import type { Tool } from '../../tools/index.ts';
import type { CompilableTool } from './compile-context.ts';

/** Lets the model leave the enclosing loop agent. The text is that of ADK. */
export class ExitLoopTool implements CompilableTool {
  readonly name = 'exit_loop';

  async compileTool(): Promise<Tool> {
    return tool({
      name: this.name,
      description: 'Exits the loop.\n\nCall this function only when you are instructed to do so.',
      readOnly: true,
      execute: (_, { actions }) => {
        actions.escalate();
        actions.skipSummarization();
        return '';
      },
    });
  }
}

/** The tool `exit_loop`. */
export const EXIT_LOOP: ExitLoopTool = new ExitLoopTool();
