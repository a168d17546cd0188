from tukeydp.cli import main

main()
