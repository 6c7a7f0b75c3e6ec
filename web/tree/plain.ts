// Pages without a script of their own.
import "./links";
