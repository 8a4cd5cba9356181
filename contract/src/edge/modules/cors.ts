import { cors as declared } from '../../module/cors.ts';
import { contentOf, moduleType } from './type.ts';

export const cors = moduleType({ name: 'cors', content: contentOf(declared), keys: ['allowOrigin'] });
