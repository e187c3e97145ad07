"""The steps of the build: obtain the Futhark compiler, translate, compile, install."""
