import {none} from './part.mjs'; export default none;
