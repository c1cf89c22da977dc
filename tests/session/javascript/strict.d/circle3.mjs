export {isStrict as a} from './part.mjs'; import * as c from './circle.mjs';
