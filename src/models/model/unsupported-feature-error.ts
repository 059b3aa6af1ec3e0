import { ModelError } from './model-error.ts';

/**
 * The request wishes for something this model has not. Nothing was answered: leave the wish out, take another model, or
 * set `onUnsupported: 'warn'` to go on without it.
 */
export class UnsupportedFeatureError extends ModelError {
  /** The field of the configuration, such as `seed`, or the kind of content. */
  readonly feature: string;

  constructor(model: string, feature: string, details?: string) {
    const why = details === undefined ? '' : ` (${details})`;
    super({
      model,
      kind: 'unsupported',
      message: `has no "${feature}"${why}: leave it out, or set onUnsupported: 'warn' to go on without it.`,
    });
    this.feature = feature;
  }
}
