import { ModelError } from './model-error.ts';

/**
 * The request uses a feature that the model does not have. No response was generated.
 * @remedy Remove the option, use another model, or set `onUnsupported: 'warn'` to continue without it.
 */
export class UnsupportedFeatureError extends ModelError {
  /** The member of the configuration, such as `seed`, or the kind of content. */
  readonly feature: string;

  constructor(model: string, feature: string, details?: string) {
    const reason = details === undefined ? '' : ` (${details})`;
    super({
      model,
      kind: 'unsupported',
      message: `has no "${feature}"${reason}. Remove it, or set onUnsupported: 'warn' to continue without it.`,
    });
    this.feature = feature;
  }
}
