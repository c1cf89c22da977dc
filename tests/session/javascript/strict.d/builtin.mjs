import fs, {readFileSync, none} from 'fs'; export default none;
